"""Write src/recollect/sync.py, the blocking Memory, from src/recollect/memory.py.

    .venv/bin/python tools/generate_sync.py

Every public method of the async Memory gets a twin with the same signature and docstring that
runs it on a background event loop. Only the loop, opening and closing are written by hand, below.
A method of a shape not seen before makes this program fail instead of guess.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).resolve().parent.parent / "src" / "recollect"
SOURCE: Final = PACKAGE / "memory.py"
TARGET: Final = PACKAGE / "sync.py"

HEADER: Final = '''"""Memory for blocking code: the calls of `recollect.Memory` without await.

Generated from memory.py by tools/generate_sync.py; do not edit. After a change of memory.py:

    .venv/bin/python tools/generate_sync.py
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError, Future
from types import TracebackType
from typing import Any, TypeVar

from recollect.errors import Closed, RecollectError
from recollect.memory import Memory as AsyncMemory
'''

LOOP: Final = '''
_T = TypeVar("_T")


class _Loop:
    """An event loop on a thread of its own, shared by all views of one opened memory."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_closed = False
        self._started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        # A daemon: a program that is interrupted, or forgets to close, must still come to its end.
        self._thread = threading.Thread(target=self._serve, name="recollect-loop", daemon=True)
        self._thread.start()
        self._loop, self._stopping = self._started.result()

    def run(self, call: Callable[[], Awaitable[_T]]) -> _T:
        """Make a call on the loop and wait for its result, from any thread but the loop's own."""
        if threading.current_thread() is self._thread:
            raise RecollectError(
                "A blocking call inside another call of the same memory would wait for itself",
                code="would_deadlock",
                hint="Make a list of the items first, then hand it over.",
            )
        with self._lock:
            if not self._is_running:
                raise Closed("This memory was closed", hint="Open it again with Memory.open().")
            running = self._start(call)
        return _result(running)

    def close(self, last: Callable[[], Awaitable[None]] | None = None) -> None:
        """Make a last call, then end the loop and its thread; a second time this does nothing."""
        with self._lock:
            if not self._is_running:
                return
            self._is_closed = True
            running = None if last is None else self._start(last)
        try:
            if running is not None:
                _result(running)
        finally:
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join()

    @property
    def _is_running(self) -> bool:
        # In a process made by fork() the thread does not exist.
        return not self._is_closed and self._thread.is_alive()

    def _start(self, call: Callable[[], Awaitable[_T]]) -> Future[_T]:
        return asyncio.run_coroutine_threadsafe(_awaited(call), self._loop)

    def _serve(self) -> None:
        asyncio.run(self._until_closed())

    async def _until_closed(self) -> None:
        stopping = asyncio.Event()
        self._started.set_result((asyncio.get_running_loop(), stopping))
        await stopping.wait()


async def _awaited(call: Callable[[], Awaitable[_T]]) -> _T:
    return await call()


def _result(running: Future[_T]) -> _T:
    try:
        return running.result()
    except CancelledError:
        raise Closed("This memory was closed during the call") from None
    finally:
        # Whoever stops waiting, as on Ctrl-C, leaves no call behind.
        running.cancel()
'''

INIT: Final = """
def __init__(self, memory: AsyncMemory, loop: _Loop, *, is_root: bool = True) -> None:
    self._memory = memory
    self._loop = loop
    self._is_root = is_root
"""

OPEN: Final = """
loop = _Loop()
try:
    return Memory(loop.run(lambda: AsyncMemory.open({arguments})), loop)
except BaseException:
    loop.close()
    raise
"""

CLOSE: Final = """
if self._is_root:
    self._loop.close(self._memory.close)
"""

CONTEXT: Final = """
def __enter__(self) -> Memory:
    return self

def __exit__(
    self,
    kind: type[BaseException] | None,
    problem: BaseException | None,
    trace: TracebackType | None,
) -> None:
    self.close()
"""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def main() -> None:
    TARGET.write_text(generated(SOURCE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote {TARGET.name}")


def generated(source: str) -> str:
    """The text of sync.py for this text of memory.py."""
    module = ast.parse(source)
    (memory,) = (it for it in module.body if isinstance(it, ast.ClassDef) and it.name == "Memory")
    imports = "\n".join(imports_of(module))
    return tidied(f"{HEADER}\n{imports}\n{LOOP}\n\n{ast.unparse(blocking(memory))}\n")


def imports_of(module: ast.Module) -> Iterator[str]:
    """What memory.py imports and the aliases it defines; ruff drops those that are not used."""
    for statement in module.body:
        match statement:
            case ast.Import() | ast.ImportFrom():
                yield ast.unparse(statement)
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield f"from recollect.memory import {name}"
            case _:
                pass
    yield from (ast.unparse(it) for it in module.body if isinstance(it, ast.If))


def blocking(memory: ast.ClassDef) -> ast.ClassDef:
    """The class with every public method made blocking."""
    docstring, *members = memory.body
    public = [it for it in members if isinstance(it, Function) and not it.name.startswith("_")]
    memory.body = [docstring, *parsed(INIT), *map(blocking_method, public), *parsed(CONTEXT)]
    for node in ast.walk(memory):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = node.value.replace("async with", "with").replace("await ", "")
    return memory


def blocking_method(method: Function) -> ast.FunctionDef:
    docstring = method.body[:1] if ast.get_docstring(method) else []
    method.body = [*docstring, *parsed(body_of(method))]
    if method.name == "open":
        method.returns = ast.Name("Memory")
    return ast.FunctionDef(**dict(ast.iter_fields(method)), lineno=method.lineno)


def body_of(method: Function) -> str:
    arguments = forwarded(method.args)
    call = f"self._memory.{method.name}({arguments})"
    decorators = [ast.unparse(decorator) for decorator in method.decorator_list]
    returns = ast.unparse(method.returns) if method.returns else ""
    if method.name == "open" and decorators == ["classmethod"]:
        return OPEN.format(arguments=arguments)
    if method.name == "close" and not decorators:
        return CLOSE
    if decorators == ["property"]:
        return f"return self._memory.{method.name}"
    if isinstance(method, ast.AsyncFunctionDef) and not decorators:
        run = f"self._loop.run(lambda: {call})"
        return run if returns == "None" else f"return {run}"
    if returns == "Memory" and not decorators:
        return f"return Memory({call}, self._loop, is_root=False)"
    raise SystemExit(f"{SOURCE.name}:{method.lineno}: no blocking form is known for {method.name}")


def forwarded(parameters: ast.arguments) -> str:
    """The arguments of a call that hands on every parameter except self or cls."""
    positional = [it.arg for it in (*parameters.posonlyargs, *parameters.args)][1:]
    rest = [f"*{parameters.vararg.arg}"] if parameters.vararg else []
    named = [f"{it.arg}={it.arg}" for it in parameters.kwonlyargs]
    others = [f"**{parameters.kwarg.arg}"] if parameters.kwarg else []
    return ", ".join((*positional, *rest, *named, *others))


def parsed(code: str) -> list[ast.stmt]:
    return ast.parse(code).body


def tidied(code: str) -> str:
    """Without unused imports, sorted and formatted as the rest of the project."""
    for command in (["check", "--fix", "--quiet", "--select", "F401,I"], ["format"]):
        code = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(TARGET), "-"],
            input=code,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
        ).stdout
    return code


if __name__ == "__main__":
    main()
