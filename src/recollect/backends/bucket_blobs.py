"""Blobs in a bucket (S3, GCS, Azure …), through one library."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from recollect.backends.objects import NOTES, ObjectBlobs
from recollect.domain.sections import S3Settings
from recollect.errors import NotAvailable, StorageError
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


class BucketBlobs(ObjectBlobs):
    """A `Blobs` over any object store that the library reaches."""

    def __init__(
        self, where: str, s3: S3Settings, *, owner: Callable[[], str] | None = None
    ) -> None:
        super().__init__(name=where, owner=owner)
        if find_spec("obstore") is None:
            raise NotAvailable(
                f"{where} needs obstore, which is not installed",
                code="not_installed",
                hint="Install it with: pip install 'recollect[s3]'",
            )
        self._s3 = s3

    @cached_property
    def _store(self) -> ObjectStore:
        """Open the store on first use."""
        return _open(self._name, self._s3)

    async def put(self, key: str, content: bytes | BinaryIO) -> None:
        with self._telling_faults():
            await self._store.put_async(key, content)

    async def get(self, key: str) -> bytes | None:
        with self._telling_faults():
            try:
                found = await self._store.get_async(key)
                return (await found.bytes_async()).to_bytes()
            except FileNotFoundError:
                return None

    async def get_range(self, key: str, start: int, end: int) -> bytes | None:
        with self._telling_faults():
            try:
                found = await self._store.get_range_async(key, start=start, end=end)
                return found.to_bytes()
            except FileNotFoundError:
                return None

    async def delete(self, keys: Sequence[str]) -> None:
        for key in keys:
            with self._telling_faults(), suppress(FileNotFoundError):
                await self._store.delete_async(key)

    async def stored(self) -> AsyncIterator[StoredBlob]:
        with self._telling_faults():
            # One overload of the library's own types names a package that is not installed.
            everything = self._store.list(  # pyright: ignore[reportUnknownMemberType]
                prefix=None if self._owner is None else await asyncio.to_thread(self._owner)
            )
            async for batch in cast("AsyncIterator[Sequence[ObjectMeta]]", everything):
                for found in batch:
                    if found["path"].startswith(f"{NOTES}/"):
                        continue
                    yield StoredBlob(
                        key=found["path"], size=found["size"], stored_at=found["last_modified"]
                    )

    def put_here(self, key: str, content: bytes) -> None:
        with self._telling_faults():
            self._store.put(key, content)

    def get_here(self, key: str) -> bytes | None:
        with self._telling_faults():
            try:
                return self._store.get(key).bytes().to_bytes()
            except FileNotFoundError:
                return None

    def keys_here(self, under: str) -> list[str]:
        with self._telling_faults():
            # One overload of the library's own types names a package that is not installed.
            everything = self._store.list(prefix=under)  # pyright: ignore[reportUnknownMemberType]
            batches = cast("Iterable[Sequence[ObjectMeta]]", everything)
            return [found["path"] for batch in batches for found in batch]

    def delete_here(self, keys: Sequence[str]) -> None:
        for key in keys:
            with self._telling_faults(), suppress(FileNotFoundError):
                self._store.delete(key)

    @contextmanager
    def _telling_faults(self) -> Generator[None]:
        """Raise one of our errors for a fault of the library."""
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, OSError) as fault:
            raise self._unreachable(fault) from fault

    def _unreachable(self, fault: Exception) -> StorageError:
        # The library writes its inner state below the first line.
        told = str(fault).partition("\n")[0]
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
            hint="Check that the bucket exists and can be reached and written to.",
        )


def _open(where: str, s3: S3Settings) -> ObjectStore:
    from obstore.exceptions import BaseError
    from obstore.store import S3Store, from_url

    try:
        if where.startswith(("s3://", "s3a://")):
            return S3Store.from_url(
                where,
                config=_bucket_config(s3),
                client_options=_client_options(s3),
                retry_config=_RETRIES,
            )
        return from_url(where)
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
