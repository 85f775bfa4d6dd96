"""A memory that is about to be opened, to be awaited or entered."""

from __future__ import annotations

from collections.abc import Callable, Generator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, NoReturn, TypeVar

from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring
    from recollect.domain.scope import Caller
    from recollect.ports.embedder import Embedder
    from recollect.ports.judge import Judge
    from recollect.ports.runtime import Clock
    from recollect.settings import Settings

# Its `connect` returns a subclass of Memory, so it is found by name, as a plugin would be.
_CLIENT: Final = "recollect.client"

Memory = TypeVar("Memory")


class Opening(Generic[Memory]):
    """A memory about to be opened; await it or enter it."""

    def __init__(
        self,
        memory: Callable[[Wiring, Caller], Memory],
        where: str | Path | Settings | None,
        clock: Clock | None,
        embedder: Embedder | None,
        judge: Judge | None = None,
        key: str | None = None,
    ) -> None:
        self._wrap = memory
        self._where = where
        self._clock = clock
        self._embedder = embedder
        self._judge = judge
        self._key = key
        self._question: str | None = None
        self._memory: Any = None

    def expecting(self, question: str | None) -> Opening[Memory]:
        """Load the model while the rest is opened, because this query follows at once."""
        self._question = question
        return self

    def __await__(self) -> Generator[Any, None, Memory]:
        return self._open().__await__()

    async def __aenter__(self) -> Memory:
        self._memory = await self._open()
        return self._memory

    async def __aexit__(self, *_: object) -> None:
        if self._memory is not None:
            await self._memory.close()

    # Only for code without a type checker: the checker reports the mistake by itself.
    if not TYPE_CHECKING:

        def __enter__(self) -> NoReturn:
            raise _not_open_yet()

        def __exit__(self, *_: object) -> None:
            """Exist only because Python requires it beside `__enter__`."""

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                # Python and its tools probe for such names.
                raise AttributeError(name)
            raise _not_open_yet()

    async def _open(self) -> Memory:
        if isinstance(self._where, str) and self._where.startswith(("http://", "https://")):
            # Imported here: only the client needs its HTTP library.
            return await import_module(_CLIENT).connect(self._where, self._key)
        # Imported here, so that importing Memory stays fast: the services need a database driver.
        from recollect.assemble import assemble

        return self._wrap(
            *await assemble(self._where, self._clock, self._embedder, self._question, self._judge)
        )


def _not_open_yet() -> InvalidInput:
    return InvalidInput(
        "This memory is not open yet",
        code="not_open",
        hint="Write `async with Memory.open(…) as memory:` or `memory = await Memory.open(…)`; "
        "code without async uses `from recollect.sync import Memory`.",
    )
