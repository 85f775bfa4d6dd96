"""Several servers on one PostgreSQL: each job runs once, each answer is current, and they may be of
two versions while they are replaced.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect

from recollect.assemble.stores import open_database
from recollect.backends.sql.migrate import alembic_config, upgrade
from recollect.backends.sql.schema import HEAD_REVISION, metadata
from recollect.settings import Settings
from tests.nursery import WARM
from tests.own_postgresql import OwnPostgresql
from tests.processes import RECOLLECT
from tests.reports import write_report

_names = count(1)


@pytest.fixture(scope="module")
def postgresql() -> Iterator[OwnPostgresql]:
    server = OwnPostgresql()
    yield server
    server.end()


class Replica:
    """One `recollect serve` in a process of its own, with a data folder of its own."""

    def __init__(self, url: str, home: Path) -> None:
        home.mkdir(exist_ok=True)
        given = {
            "HOME": str(home),
            "RECOLLECT_DATA_DIR": str(home),
            "RECOLLECT_EMBEDDING__MODEL": "none",
            "RECOLLECT_WRITING__EXTRACT": "rules",
            "RECOLLECT_WRITING__JUDGE": "rules",
            "RECOLLECT_WRITING__EVERY": "1",
            # What every machine of a fleet shares.
            "RECOLLECT_ARCHIVE__PLACE": str(home.parent / "contents"),
        }
        self._process = subprocess.Popen(
            [*RECOLLECT, "serve", "--port", "0", "--data", url, "--json"],
            stdout=subprocess.PIPE,
            env={**os.environ, **given},
        )

    def started(self) -> Replica:
        assert self._process.stdout is not None
        told = self._process.stdout.readline()
        self.address: str = json.loads(told)["address"]
        return self

    def ask(self, verb: str, route: str, **given: Any) -> httpx.Response:
        headers = {"Content-Type": "application/json", **given.pop("headers", {})}
        address = f"{self.address}/v1/{route}"
        return httpx.request(verb, address, headers=headers, timeout=60, **given)

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate(timeout=60)


_PLACES = ("harbour", "bakery", "library", "station", "museum", "theatre", "garden", "market")


def _said(number: int) -> str:
    # Each is a wish of its own, which the rules read at once.
    return f"Remember that project {_PLACES[number % 8]}-{number} uses port {7000 + number}."


def test_two_servers_read_every_conversation_once_and_see_what_the_other_wrote(
    postgresql: OwnPostgresql, tmp_path: Path
) -> None:
    url = postgresql.database(f"replicas{next(_names)}")
    replicas = [Replica(url, tmp_path / f"r{number}") for number in range(2)]
    try:
        for replica in replicas:
            replica.started()
        first, second = replicas

        def say(number: int) -> None:
            one = replicas[number % 2]
            body = {
                "messages": [{"role": "user", "content": _said(number)}],
                "session": f"s{number % 4}",
            }
            assert one.ask("POST", "observe", json=body).status_code == 201

        with ThreadPoolExecutor(4) as asking:
            list(asking.map(say, range(16)))
            # Both read what is not read yet, at the same time, beside their background work.
            reading = asking.map(lambda it: it.ask("POST", "extract"), replicas * 2)
            assert {answer.status_code for answer in reading} == {200}
        every = {"limit": 500, "status": ["active", "quarantined"]}
        found = first.ask("GET", "records", params=every).json()["items"]
        evidence = Counter(said["turn"] for record in found for said in record["evidence"])
        turns = first.ask("GET", "turns", params={"limit": 500}).json()["items"]
        assert len(turns) == 16
        assert set(evidence) == {turn["id"] for turn in turns}
        contents = Counter(record["content"] for record in found)
        assert set(contents.values()) == {1}
        # The packed index of one follows what the other writes and forgets.
        for number in range(3):
            asked = {"query": f"harbour crane {number}"}
            first.ask("POST", "recall", json=asked)
            made = second.ask("POST", "records", json={"content": f"the harbour crane {number}"})
            hits = first.ask("POST", "recall", json=asked).json()["hits"]
            assert made.json()["id"] in [hit["record"]["id"] for hit in hits if hit["record"]]
            second.ask("DELETE", f"records/{made.json()['id']}")
            hits = first.ask("POST", "recall", json=asked).json()["hits"]
            assert made.json()["id"] not in [hit["record"]["id"] for hit in hits if hit["record"]]
    finally:
        for replica in replicas:
            replica.kill()


_OPENER = """
import asyncio, sys
from pathlib import Path
from recollect import Memory
from recollect.settings import Settings

async def main(url, folder, name):
    settings = Settings.load({
        "embedding": {"model": "none"}, "storage": {"url": url}, "data_dir": Path(folder),
    })
    print("ready", flush=True)
    sys.stdin.readline()
    async with Memory.open(settings) as memory:
        print((await memory.remember("by " + name)).id, flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


def test_servers_of_the_next_version_that_start_together_migrate_once(
    postgresql: OwnPostgresql, tmp_path: Path
) -> None:
    url = postgresql.database(f"replicas{next(_names)}")
    scripts = ScriptDirectory.from_config(alembic_config(None))
    previous = scripts.get_revision(HEAD_REVISION).down_revision
    assert isinstance(previous, str)
    # A database that an earlier version made has the tables of this one but the newest.
    open_database(Settings.load({"storage": {"url": url}, "data_dir": tmp_path})).close_here()
    older = create_engine("sqlite://")
    with older.begin() as connection:
        upgrade(connection, "older", target=previous)
        new = metadata.tables.keys() - set(inspect(connection).get_table_names())
    older.dispose()
    assert new, "the newest migration makes no table: undo here what it does instead"
    for table in new:
        postgresql.run(f"DROP TABLE {table}", url)
    postgresql.run(f"UPDATE alembic_version SET version_num = '{previous}'", url)
    postgresql.run(
        'INSERT INTO scopes (id, org, workspace, agent, "user", version, next_unit, unit_count, '
        "unit_length) OVERRIDING SYSTEM VALUE VALUES "
        "(99, 'local', 'default', '', 'before', 1, 1, 0, 0)",
        url,
    )
    openers = [
        subprocess.Popen(
            [WARM, "-c", _OPENER, url, str(tmp_path / name), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two", "three")
    ]
    for opener in openers:
        assert opener.stdout is not None
        assert opener.stdout.readline() == "ready\n"
    for opener in openers:
        assert opener.stdin is not None
        opener.stdin.write("go\n")
        opener.stdin.flush()
    ended = [opener.communicate(timeout=120) for opener in openers]
    assert [opener.returncode for opener in openers] == [0, 0, 0], ended
    assert postgresql.run("SELECT version_num FROM alembic_version", url) == [(HEAD_REVISION,)]
    stored = postgresql.run("SELECT id FROM records ORDER BY id", url)
    assert sorted(out.strip() for out, _ in ended) == [row[0] for row in stored]
    assert postgresql.run("SELECT count(*) FROM scopes WHERE id = 99", url) == [(1,)]


class _Load:
    """Clients that ask whichever server answers, and repeat what was not answered."""

    def __init__(self, replicas: list[Replica]) -> None:
        self.replicas = replicas
        self.records: dict[str, str] = {}
        self.turns: dict[str, str] = {}
        self.recalls = self.repeated = self.failed = 0
        self._ends = threading.Event()
        self._numbers = count()
        self._lock = threading.Lock()

    def run(self, seconds: float) -> None:
        with ThreadPoolExecutor(4) as clients:
            running = [clients.submit(self._live, random.Random(it)) for it in range(4)]
            time.sleep(seconds)
            self._ends.set()
            for client in running:
                client.result()

    def _live(self, chance: random.Random) -> None:
        while not self._ends.is_set():
            with self._lock:
                number = next(self._numbers)
            kind = chance.choice(("record", "turn", "recall"))
            if kind == "record":
                body: dict[str, Any] = {"content": f"note {number} about harbours"}
                if (made := self._ask(chance, "records", body, f"record {number}")) is not None:
                    self.records[made["id"]] = body["content"]
            elif kind == "turn":
                said = _said(number)
                body = {
                    "messages": [{"role": "user", "content": said}],
                    "session": f"s{number % 5}",
                }
                if (made := self._ask(chance, "observe", body, f"turn {number}")) is not None:
                    self.turns[made["items"][0]["id"]] = said
            elif self._ask(chance, "recall", {"query": f"note {number}"}, None) is not None:
                self.recalls += 1

    def _ask(
        self, chance: random.Random, route: str, body: dict[str, Any], key: str | None
    ) -> dict[str, Any] | None:
        headers = {} if key is None else {"Idempotency-Key": key}
        for attempt in range(100):
            try:
                answer = chance.choice(self.replicas).ask("POST", route, json=body, headers=headers)
            except (httpx.HTTPError, IndexError):
                answer = None
            if answer is not None and answer.status_code < 300:
                self.repeated += attempt > 0
                return answer.json()
            time.sleep(0.1)
        self.failed += 1
        return None


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_three_servers_of_which_one_is_killed_every_ten_seconds(
    postgresql: OwnPostgresql, tmp_path: Path
) -> None:
    url = postgresql.database(f"replicas{next(_names)}")
    numbers = count()
    replicas = [Replica(url, tmp_path / f"r{next(numbers)}") for _ in range(3)]
    for replica in replicas:
        replica.started()
    load = _Load(replicas)
    kills = 0
    began = time.monotonic()

    def replace() -> None:
        """Start another one; on a busy machine that takes longer than until the next kill."""
        replicas.append(Replica(url, tmp_path / f"r{next(numbers)}").started())

    with ThreadPoolExecutor(4) as threads:
        running = threads.submit(load.run, 60)
        for due in range(10, 60, 10):
            time.sleep(max(0, began + due - time.monotonic()))
            # The oldest one that answers, if another one does.
            if len(replicas) > 1:
                replicas.pop(0).kill()
                kills += 1
                threads.submit(replace)
        running.result()
    try:
        for replica in replicas:
            assert replica.ask("POST", "extract").status_code == 200
        stored = dict(postgresql.run("SELECT id, content FROM records WHERE evidence = '[]'", url))
        turns = dict(postgresql.run("SELECT id, content FROM turns", url))
        read = postgresql.run("SELECT content FROM records WHERE evidence <> '[]'", url)
        wished = Counter(content for (content,) in read)
        figures = {
            "kills": kills,
            "records_acknowledged": len(load.records),
            "records_lost": len(load.records.keys() - stored.keys()),
            "records_doubled": len(stored) - len(set(stored.values())),
            "turns_acknowledged": len(load.turns),
            "turns_lost": len(load.turns.keys() - turns.keys()),
            "turns_doubled": len(turns) - len(set(turns.values())),
            "recalls": load.recalls,
            "requests_repeated": load.repeated,
            "requests_failed": load.failed,
            "claims_extracted": len(wished),
            "claims_doubled": sum(number - 1 for number in wished.values()),
            "jobs_waiting": postgresql.run("SELECT count(*) FROM jobs", url)[0][0],
            "load_average": os.getloadavg()[0],
        }
        write_report("replicas", figures)
        assert figures["records_lost"] == figures["turns_lost"] == 0
        assert figures["records_doubled"] == figures["turns_doubled"] == 0
        assert figures["claims_doubled"] == 0
        assert figures["claims_extracted"] >= 0.9 * len(load.turns)
    finally:
        for replica in replicas:
            replica.kill()
