"""Processes of Python that need not import Recollect: they are forked by one that has.

`[WARM, "-c", program]` or `[WARM, "-m", module]` starts one, by whatever means of `subprocess` or
asyncio. Each is a process of its own, with its own memory, files and signals, and a child of the
test's; only the second that imports take (three for a server) is spent once for all. A test of
starting, or of what is imported, says `sys.executable` instead.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import os
import pickle
import runpy
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

# Python by another spelling of its path, so that it runs where nobody warms it.
WARM: Final = f"{Path(sys.executable).parent}/./{Path(sys.executable).name}"

_SUBREAPER: Final = 36  # PR_SET_CHILD_SUBREAPER of Linux
_MESSAGE: Final = 200_000


@dataclass(frozen=True)
class Asked:
    """What a new process is to be."""

    arguments: list[str]
    folder: str
    environment: dict[str, str]
    is_a_session: bool


class Nursery:
    """A process that has imported what most processes import, and forks when it is asked to."""

    def __init__(self) -> None:
        self._asking, asked = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with asked:
            # It ends when the other end of its socket is closed, as by the end of this process.
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.nursery", str(asked.fileno())],
                pass_fds=[asked.fileno()],
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )
        self._one_at_a_time = threading.Lock()
        atexit.register(self._close)

    def _close(self) -> None:
        self._asking.close()
        self._process.wait()

    def start(self, asked: Asked, files: list[int]) -> int:
        """Start a process with these files as its standard three, and return its number."""
        told = asked.arguments, asked.folder, asked.environment, asked.is_a_session
        with self._one_at_a_time:
            # A process whose parent has ended becomes a child of the nearest one that says so.
            _adopt(True)
            try:
                socket.send_fds(self._asking, [pickle.dumps(told)], files)
                return int(self._asking.recv(100))
            finally:
                _adopt(False)


def _adopt(whether: bool) -> None:
    if ctypes.CDLL(None).prctl(_SUBREAPER, int(whether), 0, 0, 0) != 0:
        raise OSError("processes cannot be adopted here")


@cache
def _nursery() -> Nursery:
    """Return the one of this process, started on first use."""
    return Nursery()


def warm_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every process that is started as WARM be forked, where an orphan can be adopted."""
    if sys.platform != "linux":
        return
    begin: Any = subprocess.Popen._execute_child

    def execute(self: Any, words: Any, *given: Any) -> None:
        executable, before, _, passed, folder, environment, *_ = given
        ends, alone = given[9:15], given[20]
        is_usual = executable is None and before is None and not passed
        if not is_usual or isinstance(words, str) or words[0] != WARM:
            begin(self, words, *given)
            return
        files = [
            number if end == -1 else end for number, end in enumerate((ends[0], ends[3], ends[5]))
        ]
        asked = Asked(
            [*map(os.fsdecode, words[1:])],
            os.fsdecode(folder or Path.cwd()),
            dict(os.environ if environment is None else environment),
            alone,
        )
        self.pid = _nursery().start(asked, files)
        self._child_created = True
        self._close_pipe_fds(*ends)

    monkeypatch.setattr(subprocess.Popen, "_execute_child", execute)


def _wait_for_work(asked: socket.socket) -> list[str]:
    """Return in a new process, with what it is to run."""
    while True:
        message, ends, _, _ = socket.recv_fds(asked, _MESSAGE, 3)
        if not message:
            os._exit(0)
        read, write = os.pipe()
        if (between := os.fork()) == 0:
            # The process between ends at once, and the test's adopts its child.
            if (child := os.fork()) != 0:
                os.write(write, str(child).encode())
                os._exit(0)
            break
        os.waitpid(between, 0)
        asked.send(os.read(read, 100))
        for end in (read, write, *ends):
            os.close(end)
    asked.close()
    for end in (read, write):
        os.close(end)
    for number, end in enumerate(ends):
        os.dup2(end, number)
        os.close(end)
    # Those there are know what kind of file was there before.
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    arguments, folder, environment, is_a_session = pickle.loads(message)
    if is_a_session:
        os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    return arguments


def _run(arguments: list[str]) -> None:
    main: Any = ModuleType("__main__")
    sys.modules["__main__"] = main
    how = arguments[0]
    if how not in ("-m", "-c"):
        sys.argv, sys.path[0] = arguments, str(Path(how).parent)
        runpy.run_path(how, run_name="__main__")
        return
    what, *rest = arguments[1:]
    sys.argv[1:] = rest
    if how == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
        return
    sys.argv[0], sys.path[0] = "-c", ""
    exec(compile(what, "<string>", "exec"), vars(main))


def _import_what_most_need() -> None:
    from recollect.assemble import lifetime

    faces = ("assemble.several_stores", "cli.app", "mcp.server", "server.app", "sync")
    for module in (*lifetime._BACKGROUND_MODULES, *(f"recollect.{face}" for face in faces)):
        importlib.import_module(module)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    # The terminal's Ctrl-C is for the test; what it starts hears it as any Python does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _import_what_most_need()
    work = _wait_for_work(socket.socket(fileno=int(sys.argv[1])))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _run(work)
