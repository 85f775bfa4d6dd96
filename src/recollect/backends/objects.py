"""Blobs in a directory or in a bucket (S3, GCS, Azure …), through one library."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from recollect.domain.files import make_folder, make_private, means_full, what_to_free
from recollect.domain.sections import S3Settings
from recollect.domain.values import dataclass
from recollect.errors import StorageError
from recollect.ports.archives import StoredBlob

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ClientConfig, ObjectStore, RetryConfig, S3Config


# A server that hangs is not waited for as long as the library would.
_CONNECT_TIMEOUT: Final = timedelta(seconds=3)
_READ_TIMEOUT: Final = timedelta(seconds=5)
_REQUEST_TIMEOUT: Final = timedelta(seconds=60)
_RETRIES: Final[RetryConfig] = {
    "max_retries": 2,
    "retry_timeout": timedelta(seconds=10),
    "backoff": {
        "init_backoff": timedelta(milliseconds=100),
        "max_backoff": timedelta(seconds=1),
        "base": 2,
    },
}
# What is kept beside the contents and is none: see `BlobNotes`.
_NOTES: Final = ".recollect"


class ObjectBlobs:
    """A `Blobs` over any object store."""

    def __init__(
        self,
        opened: Callable[[], ObjectStore],
        *,
        name: str,
        folder: Path | None = None,
        owner: Callable[[], str] | None = None,
    ) -> None:
        self._opened = opened
        self._name = name
        self._folder = folder
        # Returns the identity of the database whose contents these are, if others may be beside.
        self._owner = owner
        self._durable_folders: set[Path] = set()

    @cached_property
    def _store(self) -> ObjectStore:
        """Open the store on first use: a memory that archives nothing needs no folder."""
        return self._opened()

    @property
    def name(self) -> str:
        return self._name

    async def new_key(self, name: str) -> str:
        return await asyncio.to_thread(self.new_key_here, name)

    def new_key_here(self, name: str) -> str:
        """Return a key for new contents, in the calling thread."""
        return name if self._owner is None else f"{self._owner()}/{name}"

    async def put(self, key: str, content: bytes | BinaryIO) -> None:
        from obstore.exceptions import BaseError

        try:
            if self._folder is None:
                await self._store.put_async(key, content)
                return
            # The library would make folders as the umask has it.
            await asyncio.to_thread(make_folder, (self._folder / key).parent)
            await self._store.put_async(key, content)
            await asyncio.to_thread(self._make_private_and_durable, self._folder, key)
        except (BaseError, OSError) as fault:
            raise self._unreachable(fault) from fault

    async def get(self, key: str) -> bytes | None:
        from obstore.exceptions import BaseError

        try:
            found = await self._store.get_async(key)
            return (await found.bytes_async()).to_bytes()
        except FileNotFoundError:
            return None
        except (BaseError, OSError) as fault:
            raise self._unreachable(fault) from fault

    async def get_range(self, key: str, start: int, end: int) -> bytes | None:
        """Return a part of a content, or None if there is no such content."""
        from obstore.exceptions import BaseError

        try:
            found = await self._store.get_range_async(key, start=start, end=end)
            return found.to_bytes()
        except FileNotFoundError:
            return None
        except (BaseError, OSError) as fault:
            raise self._unreachable(fault) from fault

    async def delete(self, keys: Sequence[str]) -> None:
        from obstore.exceptions import BaseError

        for key in keys:
            try:
                await self._store.delete_async(key)
            except FileNotFoundError:
                continue
            except (BaseError, OSError) as fault:
                raise self._unreachable(fault) from fault

    async def stored(self) -> AsyncIterator[StoredBlob]:
        from obstore.exceptions import BaseError

        if self._has_no_folder:
            return
        try:
            # One overload of the library's own types names a package that is not installed.
            everything = self._store.list(  # pyright: ignore[reportUnknownMemberType]
                prefix=None if self._owner is None else await asyncio.to_thread(self._owner)
            )
            async for batch in cast("AsyncIterator[Sequence[ObjectMeta]]", everything):
                for found in batch:
                    if found["path"].startswith(f"{_NOTES}/"):
                        continue
                    yield StoredBlob(
                        key=found["path"], size=found["size"], stored_at=found["last_modified"]
                    )
        except (BaseError, OSError) as fault:
            raise self._unreachable(fault) from fault

    def notes(self, owner: Callable[[], str]) -> BlobNotes:
        """Return the notes of one owner, such as a database; `stored` does not list them."""
        return BlobNotes(self, owner)

    def put_here(self, key: str, content: bytes) -> None:
        """Store a small content durably, in the calling thread."""
        from obstore.exceptions import BaseError

        try:
            if self._folder is not None:
                make_folder((self._folder / key).parent)
            self._store.put(key, content)
            if self._folder is not None:
                self._make_private_and_durable(self._folder, key)
        except (BaseError, OSError) as fault:
            raise self._unreachable(fault) from fault

    def get_here(self, key: str) -> bytes | None:
        """Return a small content, or None, in the calling thread."""
        from obstore.exceptions import BaseError

        try:
            return self._store.get(key).bytes().to_bytes()
        except FileNotFoundError:
            return None
        except (BaseError, OSError) as fault:
            raise self._unreachable(fault) from fault

    def keys_here(self, under: str) -> list[str]:
        """Return the keys under a prefix, in the calling thread."""
        # A folder that is not there needs no library to say so.
        if self._folder is not None and not (self._folder / under).is_dir():
            return []
        from obstore.exceptions import BaseError

        try:
            # One overload of the library's own types names a package that is not installed.
            everything = self._store.list(prefix=under)  # pyright: ignore[reportUnknownMemberType]
            batches = cast("Iterable[Sequence[ObjectMeta]]", everything)
            return [found["path"] for batch in batches for found in batch]
        except (BaseError, OSError) as fault:
            raise self._unreachable(fault) from fault

    def delete_here(self, keys: Sequence[str]) -> None:
        """Delete these keys, in the calling thread; missing ones are ignored."""
        from obstore.exceptions import BaseError

        for key in keys:
            try:
                self._store.delete(key)
            except FileNotFoundError:
                continue
            except (BaseError, OSError) as fault:
                raise self._unreachable(fault) from fault

    @property
    def _has_no_folder(self) -> bool:
        return self._folder is not None and not self._folder.exists()

    def _make_private_and_durable(self, root: Path, key: str) -> None:
        """Wait until a file, and its name in its folders, would survive a loss of power."""
        path = root / key
        make_private(path)
        _sync(path)
        if os.name != "posix":
            return
        for folder in path.parents:
            _sync(folder)
            # A folder that was synced with its own name before has no other news.
            if folder == root or folder in self._durable_folders:
                break
        self._durable_folders.add(path.parent)

    def _unreachable(self, fault: Exception) -> StorageError:
        # The library writes its inner state below the first line.
        told = str(fault).partition("\n")[0]
        if self._folder is not None and means_full(told):
            return StorageError(
                f"The disk is full: a file could not be stored in {self._name}; everything before "
                "it was",
                code="disk_full",
                hint=what_to_free(self._folder),
            )
        from obstore.exceptions import PermissionDeniedError, UnauthenticatedError

        if isinstance(fault, PermissionDeniedError | UnauthenticatedError):
            return StorageError(
                f"The blob store {self._name} refuses it: {told}",
                code="blobs_refused",
                hint="Check s3.access_key and s3.secret_key, or the variables AWS_…, and that this "
                "user may list, read, write and delete there.",
            )
        return StorageError(
            f"The blob store {self._name} could not do its work: {told}",
            code="blobs_unreachable",
            hint="Check that the folder or bucket exists, has room and is writable.",
        )


@dataclass(frozen=True, slots=True)
class BlobNotes:
    """Small objects beside the contents, which every machine with the same blob store sees.

    Each is written whole and never changed, so that writers on several machines need no lock.
    Whose they are is asked when they are used.
    """

    blobs: ObjectBlobs
    owner: Callable[[], str]

    def write(self, name: str, content: bytes) -> None:
        """Store a note durably."""
        self.blobs.put_here(f"{self._prefix}/{name}", content)

    def read(self, name: str) -> bytes | None:
        """Return a note, or None."""
        return self.blobs.get_here(f"{self._prefix}/{name}")

    def names(self, under: str) -> list[str]:
        """Return the names of the notes in a folder of them."""
        prefix = self._prefix
        keys = self.blobs.keys_here(f"{prefix}/{under}")
        return sorted(key.removeprefix(f"{prefix}/") for key in keys)

    def remove(self, names: Sequence[str]) -> None:
        """Remove notes; missing ones are ignored."""
        prefix = self._prefix
        self.blobs.delete_here([f"{prefix}/{name}" for name in names])

    @property
    def _prefix(self) -> str:
        return f"{_NOTES}/{self.owner()}"


def open_blobs(
    where: str | Path, owner: Callable[[], str] | None = None, s3: S3Settings | None = None
) -> ObjectBlobs:
    """Return the blob store in a folder, or at a URL such as `s3://bucket/path`.

    Without an `owner`, everything there belongs to one memory. `s3` says how to reach the bucket of
    an `s3://` place.
    """
    is_url = is_url_of_blobs(where)
    return ObjectBlobs(
        lambda: _open(where, s3 or S3Settings()),
        name=str(where),
        folder=None if is_url else Path(where),
        owner=owner,
    )


def is_url_of_blobs(where: str | Path) -> bool:
    """Return whether a place is a URL, and no folder."""
    return isinstance(where, str) and "://" in where


def _open(where: str | Path, s3: S3Settings) -> ObjectStore:
    from obstore.exceptions import BaseError
    from obstore.store import LocalStore, S3Store, from_url

    try:
        if isinstance(where, str) and where.startswith(("s3://", "s3a://")):
            return S3Store.from_url(
                where,
                config=_bucket_config(s3),
                client_options=_client_options(s3),
                retry_config=_RETRIES,
            )
        if isinstance(where, str) and "://" in where:
            return from_url(where)
        make_folder(Path(where))
        return LocalStore(prefix=Path(where))
    except (BaseError, OSError, ValueError) as fault:
        raise StorageError(
            f"The blob store {where} cannot be opened: {str(fault).partition(chr(10))[0]}",
            code="blobs_unreachable",
            hint="Give a folder that can be created, or a URL such as s3://bucket/path.",
        ) from fault


def _bucket_config(s3: S3Settings) -> S3Config:
    """Return what is set; the library takes everything else from the variables AWS_…"""
    given: S3Config = {
        "endpoint": s3.endpoint,
        "region": s3.region,
        "access_key_id": s3.access_key,
        "secret_access_key": s3.secret_key,
        "session_token": s3.session_token,
    }
    set_ones = cast("S3Config", {name: value for name, value in given.items() if value})
    if s3.virtual_host:
        set_ones["virtual_hosted_style_request"] = True
    return set_ones


def _client_options(s3: S3Settings) -> ClientConfig:
    options: ClientConfig = {
        "connect_timeout": _CONNECT_TIMEOUT,
        "read_timeout": _READ_TIMEOUT,
        "timeout": _REQUEST_TIMEOUT,
    }
    if s3.endpoint.startswith("http://"):
        options["allow_http"] = True
    if s3.ca_file:
        options["root_certificate"] = Path(s3.ca_file).read_bytes()
    return options


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
