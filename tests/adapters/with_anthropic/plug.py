"""Put our memory tool in the place of the SDK's folder, for the tests of anthropic.

Left out are tests of folders themselves (modes, symbolic links, bytes in a file), and one with a
file of five million characters: an item holds a million.
"""

import tempfile
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import pytest
from anthropic.lib.tools import _beta_builtin_memory_tool as builtin

from recollect.adapters.anthropic import AsyncRecollectMemoryTool, RecollectMemoryTool
from recollect.sync import Memory

_folder = tempfile.TemporaryDirectory(prefix="recollect-files-")
_memory = Memory.open(Path(_folder.name) / "memory.db")
_users = count()
_tools: dict[str, Any] = {}

INTERNAL = ("mkdir", "symlink", "crlf", "too_many_lines")


def _opened(kind: Any, base_path: str) -> Any:
    tool = kind(_memory.scope(user=f"user-{next(_users)}"))
    tool.base_path = base_path
    # Two tests ask whether /memories is still there; ours always is.
    is_async = kind is AsyncRecollectMemoryTool
    tool.memory_root = anyio.Path(base_path) if is_async else Path(base_path)
    _tools[base_path] = tool
    return tool


builtin.BetaLocalFilesystemMemoryTool = lambda base_path: _opened(RecollectMemoryTool, base_path)
builtin.BetaAsyncLocalFilesystemMemoryTool = lambda base_path: _opened(
    AsyncRecollectMemoryTool, base_path
)


def snapshot(base_path: str) -> dict[str, str]:
    """Every file by its path, as the tests read them from a folder."""
    tool = _tools[base_path]
    texts = tool._bridge.run(tool.files.texts)
    return {f"memories/{name}": text for name, text in texts.items()}


def pytest_collection_modifyitems(config: Any, items: list[pytest.Item]) -> None:
    left_out = [it for it in items if any(word in it.name for word in INTERNAL)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [it for it in items if it not in left_out]
    for it in items:
        it.module.get_directory_snapshot = snapshot


def pytest_sessionfinish() -> None:
    _memory.close()
    _folder.cleanup()
