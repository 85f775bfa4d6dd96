"""`recollect serve` as a real process: what it prints can be tried, and Ctrl-C ends it well."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import httpx
import pytest

from recollect.cli.app import run
from tests.processes import RECOLLECT, Child


def test_what_the_server_prints_can_be_tried_at_once(tmp_path: Path):
    with Child(
        [*RECOLLECT, "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "RECOLLECT_DATA_DIR": str(tmp_path)},
        encoding="utf-8",
    ) as server:
        record, recalled = (_tried(_next_command(server.stdout)) for _ in range(2))
        server.send_signal(signal.SIGINT)
        _, err = server.communicate(timeout=120)
    assert (server.returncode, err) == (0, "")
    assert [hit["id"] for hit in recalled["hits"]] == [record["id"]]


def test_the_command_that_it_prints_ends_that_everybody_may_do_everything(tmp_path: Path):
    place = tmp_path / "my data" / "memory.db"
    place.parent.mkdir()
    with Child(
        [*RECOLLECT, "serve", "--port", "0", "--data", str(place)],
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as server:
        assert server.stdout is not None
        told = ""
        for line in server.stdout:
            told += line
            if "from then on it is asked for" in told:
                break
        (address,) = set(re.findall(r"http://[\d.:]+\d", told))
        assert "whoever uses this machine may do everything" in told
        assert httpx.get(f"{address}/v1/records", timeout=120).status_code == 200
        command = shlex.split(re.findall(r"`(.+?)`", told)[-1])
        subprocess.run(command, check=True, capture_output=True)
        assert httpx.get(f"{address}/v1/records", timeout=120).status_code == 401
        server.kill()


def test_an_address_that_is_no_ascii_is_told_how_to_be_written(tmp_path: Path):
    with Child(
        [*RECOLLECT, "serve", "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "RECOLLECT_DATA_DIR": str(tmp_path)},
        encoding="utf-8",
    ) as server:
        assert server.stdout is not None
        port = httpx.URL(json.loads(server.stdout.readline())["address"]).port
        with socket.create_connection(("127.0.0.1", port or 0), timeout=120) as connection:
            connection.sendall("GET /v1/records?user=安妮 HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            head, _, body = connection.makefile("rb").read().partition(b"\r\n\r\n")
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=120)
    assert b"400" in head.splitlines()[0]
    assert b"application/problem+json" in head
    problem = json.loads(body)
    assert problem["code"] == "invalid_http"
    assert "--data-urlencode" in problem["hint"]


def test_a_taken_port_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        status = run(["serve", "--port", port, "--data", str(tmp_path), "--json"])
    out, err = capsys.readouterr()
    error = json.loads(err)["error"]
    assert (status, out, error["code"]) == (6, "", "address_unusable")
    assert port in error["message"]
    assert "--port" in error["hint"]


def test_a_missing_extra_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert run(["serve", "--data", str(tmp_path), "--json"]) == 6
    error = json.loads(capsys.readouterr().err)["error"]
    assert error["code"] == "not_available"
    assert "pip install uvicorn" in error["hint"]


def _next_command(printed: IO[str] | None) -> str:
    assert printed is not None
    return next(line for line in iter(printed.readline, "") if line.strip().startswith("curl "))


def _tried(command: str) -> Any:
    _, url, _, header, _, body = shlex.split(command)
    name, _, value = header.partition(": ")
    return httpx.post(url, content=body.encode(), headers={name: value}, timeout=120).json()
