"""Keys: made, checked and revoked. Only hashes are kept; a secret is shown once."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import secrets
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from recollect.backends.sql.outage import LOST
from recollect.domain.access import ApiKey, NewKey, SignIn
from recollect.domain.fields import checked_items, checked_text
from recollect.domain.ids import new_id
from recollect.domain.page import Cursor, Page, PageWanted
from recollect.domain.scope import Role, Scope, role_of
from recollect.domain.times import aware, to_micros
from recollect.errors import InvalidInput, NotAuthenticated, NotFound, StorageError
from recollect.ports.keys import StoredKey
from recollect.ports.runtime import Clock

if TYPE_CHECKING:
    from recollect.keys.rows import SqlKeys

# Every key begins with this, so that people and scanners of source code recognise one.
_MARK: Final = "rk"
_SECRET_BYTES: Final = 32
_MAX_KEY_CHARACTERS: Final = 200
# For so long a key that was used here is trusted while the database server is away: nobody can
# revoke one then, but somebody may have before.
_TRUSTED_FOR: Final = timedelta(hours=1)
_MAX_IN_USE: Final = 1_000
_MOST_FIRST: Final = 100
_MAX_NAME_CHARACTERS: Final = 60
# The last use of a key is stored at most this often.
_USE_NOTED_EVERY: Final = timedelta(minutes=1)
_DEFAULT_ORG: Final = "local"

_log = logging.getLogger(__name__)


class KeyService:
    """Creates, checks and revokes API keys, and signs browsers in with them."""

    def __init__(self, keys: SqlKeys, clock: Clock) -> None:
        self._keys = keys
        self._clock = clock
        self._noted: dict[str, datetime] = {}
        self._noting: set[asyncio.Task[None]] = set()
        # The keys that were in use here, for while the database server is away.
        self._in_use: OrderedDict[str, tuple[StoredKey, datetime]] = OrderedDict()
        self._has_any = False
        self._asked_for_any: datetime | None = None

    async def create(
        self,
        name: str,
        role: str,
        *,
        workspaces: Iterable[str] = (),
        users: Iterable[str] = (),
        all_users: bool = False,
        agents: Iterable[str] = (),
        expires_at: datetime | None = None,
    ) -> NewKey:
        """Create a key and return it with its secret, which is shown only once."""
        now = self._clock.now()
        if expires_at is not None and aware(expires_at, "expires_at") <= now:
            raise InvalidInput("expires_at is in the past; no key was made", code="bad_time")
        key_id = new_id("key")
        secret = f"{_MARK}_{key_id.removeprefix('key_')}_{secrets.token_urlsafe(_SECRET_BYTES)}"
        key = ApiKey(
            id=key_id,
            name=checked_text(name, "name", _MAX_NAME_CHARACTERS),
            prefix=secret[: len(_MARK) + 13],
            role=role_of(role),
            workspaces=_names(map(_full_name, workspaces), "workspaces"),
            users=_parts("user", users),
            agents=_parts("agent", agents),
            created_at=now,
            expires_at=expires_at,
        )
        _require_choice_of_users(key, all_users)
        salt = secrets.token_hex(16)
        await self._keys.add(StoredKey(key=key, salt=salt, digest=_digest(salt, secret)))
        return NewKey(key=key, secret=secret)

    async def create_first(self, name: str) -> str:
        """Create an admin key where there was none; return its secret, empty if others were
        faster. Servers that start together make one key.
        """
        made = await self.create(name, Role.ADMIN.value)
        keys = (await self.list(PageWanted(limit=_MOST_FIRST, cursor=None))).items
        first = min((key for key in keys), key=lambda key: key.id)
        if first.id == made.key.id:
            return made.secret
        await self.revoke(made.key.id)
        return ""

    async def list(self, page: PageWanted) -> Page[ApiKey]:
        """Return keys, newest first, including revoked ones."""
        found = await self._keys.listed(after=page.after, limit=page.one_more)
        return page.of([(Cursor(at=to_micros(key.created_at), id=key.id), key) for key in found])

    async def get(self, key_id: str) -> ApiKey:
        found = await self._keys.find(key_id)
        if found is None:
            raise _no_such_key(key_id)
        return found.key

    async def revoke(self, key_id: str) -> ApiKey:
        """Revoke a key and end its sign-ins."""
        revoked = await self._keys.revoke(key_id, self._clock.now())
        if revoked is None:
            raise _no_such_key(key_id)
        return revoked

    async def has_any(self) -> bool:
        """Return whether a key was ever created; from then on, every request needs one."""
        if self._has_any:
            return True
        now = self._clock.now()
        try:
            self._has_any = await self._keys.has_any()
        except StorageError as problem:
            asked = self._asked_for_any
            if problem.code not in LOST or asked is None or now - asked > _TRUSTED_FOR:
                raise
            return False
        self._asked_for_any = now
        return self._has_any

    async def has_usable(self) -> bool:
        """Return whether there is a usable key."""
        return await self._keys.has_usable(self._clock.now())

    async def check(self, secret: str) -> ApiKey:
        """Return the usable key with this secret, or raise `NotAuthenticated`."""
        mark, _, rest = secret.partition("_")
        key_id, _, _ = rest.partition("_")
        is_plausible = mark == _MARK and len(secret) <= _MAX_KEY_CHARACTERS and secret.isascii()
        stored = await self._find(f"key_{key_id}") if is_plausible else None
        # Always compare, so that timing does not reveal which ids exist.
        salt, digest = ("", "") if stored is None else (stored.salt, stored.digest)
        is_right = hmac.compare_digest(_digest(salt, secret), digest)
        now = self._clock.now()
        if stored is None or not is_right or not stored.key.is_usable(now):
            raise NotAuthenticated(
                "This key is unknown, expired or revoked; nothing was changed",
                code="bad_key",
                hint="recollect keys list shows the keys, recollect keys create makes one.",
            )
        self._note_use(stored.key, now)
        return stored.key

    async def _find(self, key_id: str) -> StoredKey | None:
        """Return a key; while the database server is away, as it was when last used here."""
        now = self._clock.now()
        try:
            stored = await self._keys.find(key_id)
        except StorageError as problem:
            known = self._in_use.get(key_id)
            if problem.code not in LOST or known is None or now - known[1] > _TRUSTED_FOR:
                raise
            return known[0]
        self._in_use.pop(key_id, None)
        if stored is not None:
            self._in_use[key_id] = stored, now
            if len(self._in_use) > _MAX_IN_USE:
                self._in_use.popitem(last=False)
        return stored

    async def sign_in(self, secret: str, lifetime: timedelta) -> SignIn:
        """Sign a browser in with a key."""
        key = await self.check(secret)
        now = self._clock.now()
        until = now + lifetime
        if key.expires_at is not None:
            until = min(until, key.expires_at)
        token = secrets.token_urlsafe(_SECRET_BYTES)
        await self._keys.sign_in(_token_digest(token), key.id, now, until)
        return SignIn(token=token, key=key, expires_at=until)

    async def signed_in(self, token: str) -> SignIn:
        """Return the sign-in of a cookie."""
        now = self._clock.now()
        found = await self._keys.signed_in(_token_digest(token), now)
        if found is None or not found[0].is_usable(now):
            raise NotAuthenticated(
                "You are no longer signed in; nothing was changed",
                code="signed_out",
                hint="Sign in again with a key.",
            )
        self._note_use(found[0], now)
        return SignIn(token=token, key=found[0], expires_at=found[1])

    async def sign_out(self, token: str) -> None:
        """End a sign-in, if it exists."""
        await self._keys.sign_out(_token_digest(token))

    async def close(self) -> None:
        """Wait for pending writes."""
        if self._noting:
            await asyncio.wait(self._noting)

    def _note_use(self, key: ApiKey, now: datetime) -> None:
        last = self._noted.get(key.id, key.last_used_at)
        if last is not None and now - last < _USE_NOTED_EVERY:
            return
        self._noted[key.id] = now
        task = asyncio.create_task(self._write_use(key.id, now))
        self._noting.add(task)
        task.add_done_callback(self._noting.discard)

    async def _write_use(self, key_id: str, now: datetime) -> None:
        try:
            await self._keys.used(key_id, now)
        except StorageError as problem:
            _log.warning("when the key %s was last used is not noted: %s", key_id, problem)


def csrf_token(token: str) -> str:
    """Return the token that our pages send with every write and that other pages cannot know."""
    return hmac.new(token.encode(), b"csrf", hashlib.sha256).hexdigest()


def _digest(salt: str, secret: str) -> str:
    """Return a keyed hash. A secret of 256 random bits needs no slow hash."""
    return hmac.new(salt.encode(), secret.encode(), hashlib.sha256).hexdigest()


def _token_digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _require_choice_of_users(key: ApiKey, all_users: bool) -> None:
    """Refuse a key that would open everybody's memory although nobody said so.

    An administrator reads all users by its role.
    """
    if key.users and all_users:
        raise InvalidInput(
            "A key is for some users or for all of them; no key was made",
            code="users_contradict",
            hint="Give the users, or all_users (--all-users), not both.",
        )
    if not key.users and not all_users and key.role is not Role.ADMIN:
        raise InvalidInput(
            f"Nothing says whose memory the {key.role} key {key.name!r} opens; no key was made",
            code="users_needed",
            hint="Name its users (--bind-user ID, in the API users), or say that it is for all of"
            " them (--all-users, in the API all_users = true).",
        )


def _full_name(workspace: str) -> str:
    org, slash, name = workspace.rpartition("/")
    scope = Scope(org=org if slash else _DEFAULT_ORG, workspace=name)
    return f"{scope.org}/{scope.workspace}"


def _parts(part: str, given: Iterable[str]) -> tuple[str, ...]:
    names = _names(given, f"{part}s")
    for name in names:
        replace(Scope(), **{part: name})
    return names


def _names(given: Iterable[str], what: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(checked_items(given, what)))


def _no_such_key(key_id: str) -> NotFound:
    return NotFound(f"There is no key {key_id}", hint="recollect keys list shows them.")
