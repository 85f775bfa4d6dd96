"""Settings of the server."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from recollect.settings.sections import Section


class TokenSettings(Section):
    """Tokens (JWT) of an identity provider; empty = keys only."""

    jwks: str = Field(
        default="", description="file or https URL of the public keys; empty = no tokens"
    )
    issuer: str = Field(default="", description="required value of `iss`; empty = any")
    audience: str = Field(default="", description="required value of `aud`; empty = any")
    claim: str = Field(
        default="recollect",
        description="claim with the role, workspaces, users and agents, as in a key",
    )


class ServerSettings(Section):
    """Access to the HTTP server, and its limits."""

    sign_in_hours: Annotated[float, Field(gt=0, le=24 * 90)] = Field(
        default=12, description="how long a browser stays signed in"
    )
    requests_per_minute: Annotated[int, Field(ge=1)] = Field(
        default=6_000, description="maximum requests of a key per minute"
    )
    concurrent_requests: Annotated[int, Field(ge=1)] = Field(
        default=64, description="maximum concurrent requests of a key"
    )
    recall_timeout: Annotated[float, Field(gt=0)] = Field(
        default=30.0, description="seconds after which a recall or a prompt is aborted"
    )
    log_requests: bool = Field(
        default=True, description="log a line for each request, without its content"
    )
    traces_endpoint: str = Field(
        default="",
        description="OTLP address of an OpenTelemetry collector, such as"
        " http://127.0.0.1:4318/v1/traces; empty = no traces",
    )
    tokens: TokenSettings = TokenSettings()
