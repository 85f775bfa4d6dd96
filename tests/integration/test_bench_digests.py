"""`recollect bench digests`: the share of needed facts, beside cutting, and what is saved."""

import json
from pathlib import Path

import pytest

from tests.command_line import CommandLine

_LOG = "\n".join(
    f"2026-05-01T10:00:{n % 60:02} {'ERROR disk full' if n == 250 else f'INFO order {n} done'}"
    for n in range(500)
)


def _folder(path: Path) -> Path:
    (path / "log.txt").write_text(_LOG, "utf-8")
    facts = [
        {"fact": "500 lines", "found_by": [["500 lines"]]},
        {"fact": "the disk was full", "found_by": [["disk full"]]},
        {"fact": "never there", "found_by": [["quantum banana"]]},
    ]
    label = {"file": "log.txt", "shape": "log", "language": "en", "query": "", "facts": facts}
    (path / "labels.jsonl").write_text(json.dumps(label), "utf-8")
    return path


def test_the_share_of_facts_stands_beside_two_ways_of_cutting(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
):
    said = CommandLine(capfdbinary)("bench", "digests", str(_folder(tmp_path)), "--json")
    assert said.status == 0, said.err
    shares = json.loads(said.out.splitlines()[-1])
    assert shares["digest 200"]["all"] == shares["digest 200"]["log"] == 0.667
    assert shares["head and tail 200"]["all"] == shares["opening 200"]["all"] == 0


@pytest.mark.soak
def test_what_is_saved_stands_beside_the_estimates(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
):
    command = CommandLine(capfdbinary)
    said = command("bench", "digests", str(_folder(tmp_path)), "--savings", "--json")
    assert said.status == 0, said.err
    rows = {row["row"]: row["measured"] for row in json.loads(said.out.splitlines()[-1])}
    assert rows["compression, level 1"] < rows["compression, level 2"]
    assert rows["compression, level 2"] < rows["compression, level 3"]
    assert rows["ten rounds, passages"] >= 0.9
