"""Several processes that answer on one address and share one database."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from typing import Final

from recollect.errors import RecollectError

# How long a worker may take to answer what it has begun when it is told to stop.
_GRACE_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.5
# A worker that ends sooner than it can have started is not started again.
_FEWEST_STARTS_THAT_FAIL: Final = 5

Serve = Callable[[socket.socket], None]


def serve_with_workers(serve: Serve, listener: socket.socket, count: int) -> None:
    """Run `serve` in several processes until Ctrl-C or a signal to end; one that dies is replaced.

    Each process has caches and limits of its own. Everything else that they must agree on lies in
    the database: keys, repeated requests, jobs and the list of changes that events are made of.
    """
    group = _Workers(serve, listener)
    ending = threading.Event()

    def end(*_: object) -> None:
        ending.set()

    before = {it: signal.signal(it, end) for it in (signal.SIGINT, signal.SIGTERM)}
    try:
        group.start(count)
        while not ending.wait(_LOOK_SECONDS):
            group.replace_the_dead()
    finally:
        group.stop()
        for number, handler in before.items():
            signal.signal(number, handler)


class _Workers:
    def __init__(self, serve: Serve, listener: socket.socket) -> None:
        # Started afresh: a copy of this process would have the threads' locks without the threads.
        self._context = multiprocessing.get_context("spawn")
        self._serve = serve
        self._listener = listener
        self._running: list[BaseProcess] = []
        self._failed = 0

    def start(self, count: int) -> None:
        for _ in range(count):
            self._running.append(self._started())

    def replace_the_dead(self) -> None:
        for place, worker in enumerate(self._running):
            if worker.is_alive():
                continue
            self._failed += 1
            if self._failed >= _FEWEST_STARTS_THAT_FAIL * len(self._running):
                raise RecollectError(
                    f"The server's processes end again and again, the last with {worker.exitcode}",
                    hint="The log file says why; `recollect doctor` looks at every part.",
                )
            self._running[place] = self._started()

    def stop(self) -> None:
        for worker in self._running:
            with contextlib.suppress(ProcessLookupError):
                worker.terminate()
        for worker in self._running:
            worker.join(_GRACE_SECONDS)
            if worker.is_alive():
                worker.kill()
                worker.join()

    def _started(self) -> BaseProcess:
        worker = self._context.Process(
            target=_work, args=(self._serve, self._listener), name="recollect-worker", daemon=True
        )
        worker.start()
        return worker


def _work(serve: Serve, listener: socket.socket) -> None:
    # Ctrl-C reaches every process of a terminal; the first one tells the others when to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    serve(listener)


def _end_with_parent() -> None:
    """End this process when the first one was killed and can tell nobody."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
