"""The files of Anthropic's memory tool, kept as items."""
# The framework has an environment of its own, where the tests of this module run.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from anthropic.lib.tools import ToolError

from recollect.domain.item import ItemDraft
from recollect.errors import RecollectError
from recollect.memory import Memory

_ROOT: Final = "/memories"
_PLACE: Final = ("anthropic-memory",)


class MemoryFiles:
    """The files under /memories as items; a folder is there while it holds a file.

    The words of its answers are those that Anthropic's own tool gives, which models know.
    """

    def __init__(self, memory: Memory) -> None:
        self._items = memory.items
        # Calls of one answer may run side by side, and each change is read first.
        self._lock = asyncio.Lock()

    async def execute(self, command: Any) -> str:
        """Carry out one command; what the model did wrong is told as `ToolError`."""
        act: Callable[[Any], Awaitable[str]] = getattr(self, f"_{command.command}")
        try:
            async with self._lock:
                return await act(command)
        except RecollectError as problem:
            raise ToolError(f"{problem.message}. {problem.hint}".strip()) from problem

    async def clear(self) -> str:
        """Remove every file."""
        await self._items.clear(_PLACE)
        return "All memory cleared"

    async def texts(self) -> dict[str, str]:
        """Return every file's text by its path under /memories."""
        found = await self._items.listed(_PLACE)
        return dict(sorted((it.key, str(it.value["text"])) for it in found))

    async def _view(self, command: Any) -> str:
        path, text = await self._read(command.path, may_be_folder=True)
        if text is None:
            return await self._listing(command.path, path)
        lines = text.split("\n")
        first, last = command.view_range or (1, -1)
        first = max(1, first)
        shown = lines[first - 1 : None if last == -1 else last]
        return f"Here's the content of {command.path} with line numbers:\n" + _numbered(
            shown, first
        )

    async def _create(self, command: Any) -> str:
        path = _checked(command.path)
        if not path or await self._exists(path):
            raise ToolError(f"File {command.path} already exists")
        await self._write(path, command.file_text)
        return f"File created successfully at: {command.path}"

    async def _str_replace(self, command: Any) -> str:
        path, text = await self._file(command.path)
        places = _places(text, command.old_str)
        if not places:
            raise ToolError(
                f"No replacement was performed, old_str `{command.old_str}` did not appear "
                f"verbatim in {command.path}."
            )
        if len(places) > 1:
            lines = ", ".join(str(text.count("\n", 0, at) + 1) for at in places)
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str "
                f"`{command.old_str}` in lines: {lines}. Please ensure it is unique"
            )
        changed = text.replace(command.old_str, command.new_str)
        await self._write(path, changed)
        at = text.count("\n", 0, places[0])
        begin = max(0, at - 2)
        return (
            "The memory file has been edited. Here is the snippet showing the change "
            "(with line numbers):\n" + _numbered(changed.split("\n")[begin : at + 3], begin + 1)
        )

    async def _insert(self, command: Any) -> str:
        path, text = await self._file(command.path)
        lines = text.removesuffix("\n").split("\n") if text else []
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {command.insert_line}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        await self._write(path, "\n".join(lines) + "\n")
        return f"The file {command.path} has been edited."

    async def _delete(self, command: Any) -> str:
        path = _checked(command.path)
        if not path:
            raise ToolError("Cannot delete the /memories directory itself")
        await self._items.write(removed=[(_PLACE, it) for it in await self._at(command.path)])
        return f"Successfully deleted {command.path}"

    async def _rename(self, command: Any) -> str:
        old, new = _checked(command.old_path), _checked(command.new_path)
        if not old:
            raise ToolError("Cannot rename the /memories directory itself")
        if not new or await self._exists(new):
            raise ToolError(f"The destination {command.new_path} already exists")
        moved = await self._at(command.old_path)
        drafts = [
            ItemDraft(namespace=_PLACE, key=new + it.removeprefix(old), value={"text": text})
            for it, text in moved.items()
        ]
        await self._items.write(drafts, [(_PLACE, it) for it in moved])
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    async def _listing(self, told: str, path: str) -> str:
        sizes: dict[str, int] = {}
        base = f"{path}/" if path else ""
        for name, text in (await self.texts()).items():
            if not name.startswith(base):
                continue
            steps = name.removeprefix(base).split("/")
            if any(step.startswith(".") for step in steps):
                continue
            size = len(text.encode())
            for depth in range(1, min(len(steps), 2) + 1):
                shown = "/".join(steps[:depth]) + ("/" if depth < len(steps) else "")
                sizes[shown] = sizes.get(shown, 0) + size
        whole = sum(it for name, it in sizes.items() if "/" not in name.rstrip("/"))
        head = (
            f"Here're the files and directories up to 2 levels deep in {told}, "
            "excluding hidden items:"
        )
        rows = [(whole, told), *((it, f"{told.rstrip('/')}/{name}") for name, it in sizes.items())]
        return "\n".join([head, *(f"{_size(it)}\t{name}" for it, name in rows)])

    async def _read(self, told: str, *, may_be_folder: bool) -> tuple[str, str | None]:
        path = _checked(told)
        found = await self._items.get(_PLACE, path) if path else None
        if found is not None:
            return path, str(found.value["text"])
        if path and not await self._exists(path):
            raise ToolError(f"The path {told} does not exist. Please provide a valid path.")
        if not may_be_folder:
            raise ToolError(f"The path {told} is not a file.")
        return path, None

    async def _file(self, told: str) -> tuple[str, str]:
        path, text = await self._read(told, may_be_folder=False)
        return path, text or ""

    async def _at(self, told: str) -> dict[str, str]:
        """Return a file, or all files of a folder."""
        path = _checked(told)
        texts = await self.texts()
        found = {it: text for it, text in texts.items() if _is_at(it, path)}
        if not found:
            raise ToolError(f"The path {told} does not exist")
        return found

    async def _exists(self, path: str) -> bool:
        return any(_is_at(text, path) for text in await self.texts())

    async def _write(self, path: str, text: str) -> None:
        await self._items.put(_PLACE, path, {"text": text})


def _checked(path: str) -> str:
    """Return a path under /memories, without its dots; empty is the folder itself."""
    if path != _ROOT and not path.startswith(f"{_ROOT}/"):
        raise ToolError(f"Path must start with {_ROOT}, got: {path}")
    inside = posixpath.normpath(path.removeprefix(_ROOT).lstrip("/") or ".")
    if inside == ".." or inside.startswith("../"):
        raise ToolError(f"Path {path} would escape {_ROOT} directory")
    return "" if inside == "." else inside


def _is_at(name: str, path: str) -> bool:
    return name == path or name.startswith(f"{path}/")


def _places(text: str, wanted: str) -> list[int]:
    places: list[int] = []
    at = text.find(wanted)
    while wanted and at >= 0:
        places.append(at)
        at = text.find(wanted, at + 1)
    return places


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, first))


def _size(count: int) -> str:
    size, units = float(count), iter("BKMG")
    unit = next(units)
    while size >= 1024:
        size, unit = size / 1024, next(units, "G")
    return f"{size:.0f}{unit}" if size == int(size) else f"{size:.1f}{unit}"
