"""Who a request comes from: a key, a signed-in browser, a token, or this machine itself."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast
from urllib.parse import unquote

from fastapi import Depends, Request

from recollect.domain.access import EVERYTHING, ApiKey, Grant
from recollect.domain.scope import MAX_PART, Role
from recollect.errors import InvalidInput, NotAllowed, NotAuthenticated, NotAvailable, SettingsError
from recollect.keys.service import KeyService, csrf_token
from recollect.memory import Memory
from recollect.server.limits import Limits

if TYPE_CHECKING:
    import jwt

    from recollect.settings.sections import TokenSettings


COOKIE: Final = "recollect_sign_in"
CSRF_HEADER: Final = "X-CSRF-Token"
# Who uses the console of a server that has no keys; where there are keys, they say it.
PERSON_HEADER: Final = "X-Recollect-Person"
_KEY_MARK: Final = "rk_"
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})

Means = Literal["open", "key", "cookie", "token"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who is asking and what that permits."""

    name: str
    grant: Grant
    means: Means
    key_id: str | None = None
    expires_at: datetime | None = None
    csrf_token: str | None = None
    is_person: bool = False
    """Whether a person acts, in a browser, not a program that has a key."""

    @property
    def principal(self) -> str | None:
        """Return the name that changes are ascribed to; None leaves it to the scope."""
        if self.is_person:
            return self.name
        return None if self.means == "open" else f"{self.means}:{self.name}"

    def require_role(self, role: Role, what: str) -> None:
        """Refuse what a lower role may not do."""
        self.grant.role.require(role, what)

    def require_server(self, what: str) -> None:
        """Refuse what concerns everybody to a key that is bound to some."""
        if not self.grant.is_server_wide:
            raise NotAllowed(
                f"{what} concerns everything on this server; nothing was changed",
                code="key_bound",
                hint=f"This key reaches {self.grant.reach}. Use one that is not bound.",
            )


@dataclass(frozen=True, slots=True)
class SignInMethods:
    """How one gets in: whether anybody on this machine may without a key, and by which tokens."""

    is_open_here: bool
    """As long as no key was ever made."""
    check_token: Callable[[str], Awaitable[Identity]] | None = None


async def identify(request: Request) -> Identity:
    """Return who is asking; it is found out once for a request."""
    known: object = getattr(request.state, "identity", None)
    if not isinstance(known, Identity):
        known = request.state.identity = await _identify(request)
    return known


async def require_still(request: Request) -> None:
    """Refuse to go on with what was begun by a key, sign-in or token that has ended since."""
    request.state.identity = await _find_out(request)


async def is_still_known(request: Request) -> bool:
    """Return whether whoever began a stream may still read it."""
    try:
        await require_still(request)
    except (NotAuthenticated, NotAllowed):
        return False
    return True


async def _identify(request: Request) -> Identity:
    try:
        return await _find_out(request)
    except NotAuthenticated:
        # Only wrong keys count, so that nobody can lock out who shares an address.
        if "authorization" in request.headers:
            limits = cast("Limits", request.app.state.limits)
            limits.note_wrong_key(request.client.host if request.client else "")
        raise


async def _find_out(request: Request) -> Identity:
    methods = cast("SignInMethods", request.app.state.sign_in_methods)
    keys = cast("Memory", request.app.state.memory).access
    if (given := request.headers.get("authorization")) is not None:
        return await _by_header(given, keys, methods)
    if methods.is_open_here and methods.check_token is None and not await keys.has_any():
        person = _person(request)
        return Identity(
            name=person or "local", grant=EVERYTHING, means="open", is_person=person is not None
        )
    if (cookie := request.cookies.get(COOKIE)) is not None:
        return await _by_cookie(request, cookie, keys)
    raise NotAuthenticated(
        "This server asks for a key; nothing was changed",
        hint="Send it as Authorization: Bearer KEY; recollect keys create makes one.",
    )


def _person(request: Request) -> str | None:
    """Return the person who says that they use a server without keys; None is a program."""
    given = unquote(request.headers.get(PERSON_HEADER, "")).strip()
    if len(given) > MAX_PART or not given.isprintable():
        raise InvalidInput(
            f"{PERSON_HEADER} is not a name of up to {MAX_PART} characters; nothing was changed",
            code="bad_name",
            hint="Percent-encode it as UTF-8.",
        )
    return given or None


async def _by_header(given: str, keys: KeyService, methods: SignInMethods) -> Identity:
    scheme, _, secret = given.partition(" ")
    secret = secret.strip()
    if scheme.lower() != "bearer" or not secret:
        raise NotAuthenticated(
            "The Authorization header is not Bearer and a key; nothing was changed",
            hint="Send it as Authorization: Bearer KEY.",
        )
    if methods.check_token is not None and not secret.startswith(_KEY_MARK):
        return await methods.check_token(secret)
    return of_key(await keys.check(secret))


async def _by_cookie(request: Request, cookie: str, keys: KeyService) -> Identity:
    sign_in = await keys.signed_in(cookie)
    expected = csrf_token(cookie)
    given = request.headers.get(CSRF_HEADER, "")
    if request.method not in _SAFE and not hmac.compare_digest(given.encode(), expected.encode()):
        raise NotAllowed(
            f"A change by a signed-in browser needs the {CSRF_HEADER} header; nothing was changed",
            code="csrf_token_needed",
            hint="GET /v1/whoami tells its value as csrf_token.",
        )
    return Identity(
        name=sign_in.key.name,
        grant=sign_in.key.grant,
        means="cookie",
        key_id=sign_in.key.id,
        expires_at=sign_in.expires_at,
        csrf_token=expected,
        is_person=True,
    )


def of_key(key: ApiKey) -> Identity:
    """Return who has this key."""
    return Identity(
        name=key.name, grant=key.grant, means="key", key_id=key.id, expires_at=key.expires_at
    )


Asking = Annotated[Identity, Depends(identify)]


# --- Tokens (JWT) of a sign-in service of one's own: who sent one, and what it permits ------------

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
