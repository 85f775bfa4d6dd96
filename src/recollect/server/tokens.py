"""Tokens (JWT) of a sign-in service of one's own: who sent one, and what it permits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from recollect.domain.access import Grant
from recollect.domain.scope import Role
from recollect.errors import NotAuthenticated, NotAvailable, SettingsError
from recollect.server.identity import Identity

if TYPE_CHECKING:
    import jwt

    from recollect.settings.sections import TokenSettings

# Signatures that need no shared secret; `none` and HMAC are not among them.
_ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "ES512", "EdDSA")
_LEEWAY_SECONDS: Final = 30
_LONGEST_TOKEN: Final = 16_000


def token_check(settings: TokenSettings) -> Callable[[str], Awaitable[Identity]] | None:
    """Return what checks tokens, None where none are wanted."""
    if not settings.jwks:
        return None
    try:
        import jwt
    except ModuleNotFoundError:
        raise NotAvailable(
            "server.tokens needs PyJWT, which is not installed",
            hint="Install it with: pip install 'recollect[jwt]'",
        ) from None
    key_of = _key_finder(settings.jwks, jwt)
    checks: dict[str, Any] = {
        "algorithms": list(_ALGORITHMS),
        "issuer": settings.issuer or None,
        "audience": settings.audience or None,
        "leeway": _LEEWAY_SECONDS,
        "options": {"require": ["exp", "sub"], "verify_aud": bool(settings.audience)},
    }

    async def check(token: str) -> Identity:
        if len(token) > _LONGEST_TOKEN:
            raise _refused("it is too long")
        try:
            # Public keys may have to be fetched.
            key = await asyncio.to_thread(key_of, token)
            claims = jwt.decode(token, key, **checks)
        except jwt.PyJWTError as problem:
            raise _refused(str(problem)) from None
        return _identity(claims, settings.claim)

    return check


def _key_finder(place: str, jwt: Any) -> Callable[[str], jwt.PyJWK]:
    if place.startswith("https://"):
        client = jwt.PyJWKClient(place, cache_keys=True, timeout=10)
        return lambda token: client.get_signing_key_from_jwt(token)
    try:
        keys = jwt.PyJWKSet.from_dict(json.loads(Path(place).read_text(encoding="utf-8")))
    except (OSError, ValueError, jwt.PyJWTError) as problem:
        raise SettingsError(
            f"server.tokens.jwks {place!r} cannot be used: {problem}",
            hint="Name a file with a JSON Web Key Set, or an https address of one.",
        ) from None

    def find(token: str) -> jwt.PyJWK:
        wanted = jwt.get_unverified_header(token).get("kid")
        for key in keys.keys:
            if wanted is None or key.key_id == wanted:
                return key
        raise jwt.InvalidKeyError("none of the public keys has signed it")

    return find


def _identity(claims: Mapping[str, Any], claim: str) -> Identity:
    told: object = claims.get(claim)
    if not isinstance(told, Mapping):
        raise _refused(f"it has no claim {claim!r} with a role")
    granted = cast("Mapping[str, object]", told)
    try:
        role = Role(str(granted.get("role")))
    except ValueError:
        raise _refused(f"its claim {claim!r} names no role that there is") from None
    workspaces = _names(granted, "workspaces")
    return Identity(
        name=str(claims["sub"])[:60],
        grant=Grant(
            role=role,
            workspaces=tuple(it if "/" in it else f"local/{it}" for it in workspaces),
            users=_names(granted, "users"),
            agents=_names(granted, "agents"),
        ),
        means="token",
        expires_at=datetime.fromtimestamp(claims["exp"], UTC),
    )


def _names(granted: Mapping[str, object], name: str) -> tuple[str, ...]:
    """Return a list of names; one that is given and empty would mean nobody, not everybody."""
    if name not in granted:
        return ()
    given = granted[name]
    names = cast("Sequence[object]", given) if isinstance(given, list) else ()
    if not names or not all(isinstance(it, str) for it in names):
        raise _refused(f"its {name} are no list of names")
    return tuple(cast("Sequence[str]", names))


def _refused(why: str) -> NotAuthenticated:
    return NotAuthenticated(
        f"This token cannot be accepted: {why}; nothing was changed",
        code="bad_token",
        hint="Get a new one from your sign-in service; `server.tokens` says what it must hold.",
    )
