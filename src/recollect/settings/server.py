"""The branch of the settings that is about the server."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from recollect.settings.sections import Section


class TokenSettings(Section):
    """Tokens (JWT) of a sign-in service of one's own; empty = keys only."""

    jwks: str = Field(
        default="", description="file or https address of the public keys; empty = no tokens"
    )
    issuer: str = Field(default="", description="what `iss` must say; empty = anything")
    audience: str = Field(default="", description="what `aud` must say; empty = anything")
    claim: str = Field(
        default="recollect",
        description="the claim that holds role, workspaces, users and agents, as a key has them",
    )


class ServerSettings(Section):
    """How the HTTP server lets in and holds back."""

    sign_in_hours: Annotated[float, Field(gt=0, le=24 * 90)] = Field(
        default=12, description="how long a browser stays signed in"
    )
    requests_per_minute: Annotated[int, Field(ge=1)] = Field(
        default=6_000, description="how many requests a key may send"
    )
    concurrent_requests: Annotated[int, Field(ge=1)] = Field(
        default=64, description="how many requests of a key are worked on at a time"
    )
    recall_timeout: Annotated[float, Field(gt=0)] = Field(
        default=30.0, description="seconds after which a recall or a prompt is given up"
    )
    log_requests: bool = Field(
        default=True, description="a line for each request in the log, without what it is about"
    )
    traces_endpoint: str = Field(
        default="",
        description="OTLP address of an OpenTelemetry collector, such as"
        " http://127.0.0.1:4318/v1/traces; empty = no traces",
    )
    tokens: TokenSettings = TokenSettings()
