"""A real Redis server for tests: on a port and in a folder of its own, ended by the test."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import redis

from tests.database_servers import free_port

_OPTIONS: Final = ("--save", "", "--appendonly", "no", "--bind", "127.0.0.1", "--daemonize", "no")


class RedisServer:
    """Redis as Debian has it."""

    def __init__(self, *options: str) -> None:
        self._options = options
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="recollect-redis-"))
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it, also after it was killed; it begins with what it saved, or nothing."""
        here = ("--port", str(self.port), "--dir", str(self.folder))
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                ["redis-server", *_OPTIONS, *here, *self._options], stdout=log, stderr=log
            )
        ends = time.monotonic() + 30
        while True:
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                    return
            except OSError:
                assert time.monotonic() < ends, (self.folder / "server.log").read_text()
            time.sleep(0.02)

    def kill(self) -> None:
        """End it as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)
            self._process = None

    def pause(self) -> None:
        """Let it hang: connections stay open and nothing is answered."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGCONT)

    def ask(self, *command: Any, **options: Any) -> Any:
        """Run a command past all of our code."""
        with redis.Redis(port=self.port, decode_responses=True, **options) as client:
            return client.execute_command(*command)

    def hash(self, key: str) -> dict[str, str]:
        with redis.Redis(port=self.port, decode_responses=True) as client:
            return client.hgetall(key)

    def keys(self, pattern: str = "*") -> list[str]:
        with redis.Redis(port=self.port, decode_responses=True) as client:
            return sorted(client.scan_iter(pattern))

    def content(self) -> bytes:
        """Return everything that is in it, keys and values."""
        with redis.Redis(port=self.port) as client:
            told: list[bytes] = []
            for key in client.scan_iter(count=1000):
                told.append(key)
                match client.type(key):
                    case b"string":
                        told.append(client.get(key) or b"")
                    case b"hash":
                        told += [part for field in client.hgetall(key).items() for part in field]
                    case b"zset":
                        told += client.zrange(key, 0, -1)
                    case other:
                        raise AssertionError(other)
            return b"\n".join(told)

    def stop(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
