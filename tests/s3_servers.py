"""A real S3 server for tests: SeaweedFS on a port and in a folder of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import httpx
from obstore.exceptions import BaseError
from obstore.store import S3Store

from tests.database_servers import free_port

_WEED: Final = Path(__file__).parent / "databases" / ".venv-seaweedfs" / "bin" / "weed"
BUCKET: Final = "memories"
KEY, SECRET = "recollect", "very-secret-key"
READER, READERS_SECRET = "reader", "readers-secret"
_SERVICES: Final = ("master", "volume", "filer", "s3")


class S3Server:
    """A server with one bucket, and a second user who may only read."""

    def __init__(self) -> None:
        assert _WEED.exists(), "SeaweedFS is not installed: sh tools/setup.sh server seaweedfs"
        self.folder = Path(tempfile.mkdtemp(prefix="recollect-s3-"))
        self._ports = {name: (free_port(), free_port()) for name in _SERVICES}
        users = [
            _user("owner", KEY, SECRET, "Admin", "Read", "Write", "List", "Tagging"),
            _user("reader", READER, READERS_SECRET, "Read", "List"),
        ]
        (self.folder / "keys.json").write_text(json.dumps({"identities": users}))
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._ports['s3'][0]}"

    def settings(self, key: str = KEY, secret: str = SECRET) -> dict[str, Any]:
        """Return the settings of a memory whose contents are here."""
        access = {"access_key": key, "secret_key": secret, "region": "us-east-1"}
        return {
            "archive": {"place": f"s3://{BUCKET}/archives"},
            "s3": {"endpoint": self.endpoint, **access},
        }

    def start(self) -> None:
        """Start it, also after it was killed; what it stored is there again."""
        ports = [
            option
            for name, (web, grpc) in self._ports.items()
            for option in (f"-{name}.port={web}", f"-{name}.port.grpc={grpc}")
        ]
        run = [
            *(str(_WEED), "-logtostderr=true", "server", f"-dir={self.folder}"),
            *("-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3", *ports),
            *(f"-s3.config={self.folder / 'keys.json'}", "-master.volumeSizeLimitMB=64"),
            *("-volume.max=16", "-master.telemetry=false"),
            *("-s3.port.iceberg=0", "-s3.port.lance=0", f"-filer.localSocket={self.folder / 'f'}"),
            f"-s3.localSocket={self.folder / 's'}",
        ]
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(run, stdout=log, stderr=log, cwd=self.folder)
        ends = time.monotonic() + 90
        while not self._is_ready():
            if time.monotonic() > ends or self._process.poll() is not None:
                self.kill()
                raise AssertionError((self.folder / "server.log").read_text()[-5_000:])
            time.sleep(0.2)

    def _is_ready(self) -> bool:
        filer = f"http://127.0.0.1:{self._ports['filer'][0]}/buckets/{BUCKET}/"
        try:
            if httpx.post(filer, timeout=5).status_code not in (201, 409):
                return False
            probe = self.store()
            probe.put("probe", b"1")
            probe.delete("probe")
        except (httpx.HTTPError, BaseError, OSError):
            return False
        return True

    def store(self) -> S3Store:
        """Return what is in the bucket, past all of our code."""
        return S3Store(
            BUCKET,
            endpoint=self.endpoint,
            access_key_id=KEY,
            secret_access_key=SECRET,
            region="us-east-1",
            client_options={"allow_http": True, "timeout": "10s"},
            retry_config={"max_retries": 0},
        )

    def stored(self) -> list[str]:
        return sorted(found["path"] for batch in self.store().list() for found in batch)

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

    def stop(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def _user(name: str, key: str, secret: str, *actions: str) -> dict[str, Any]:
    access = {"accessKey": key, "secretKey": secret}
    return {"name": name, "credentials": [access], "actions": list(actions)}
