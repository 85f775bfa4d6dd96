"""The invented histories: how they are read from text, and that what is shipped has no faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from training.answers.groups import DATA
from training.answers.histories import faults, read_histories

_TOLD = """
# Ada, a baker
@ 0
1 u my oven is a Miele
2 a Which model?
@ 12
3 u the Miele went, it's a Bosch
? which oven do I have? | now 3 | was 1
! plan a bread for my oven | now 3
- how old is the oven?

# Ben
1 u hello
"""


def _written(folder: Path, text: str) -> Path:
    file = folder / "histories.txt"
    file.write_text(text, "utf-8")
    return file


def test_a_history_tells_who_said_what_when_and_what_answers(tmp_path: Path):
    ada, ben = read_histories(_written(tmp_path, _TOLD))
    assert [(it.name, it.day, it.speaker) for it in ada.messages] == [
        (1, 0, "u"),
        (2, 0, "a"),
        (3, 12, "u"),
    ]
    asked, wanted, unanswered = ada.asked
    assert (asked.now, asked.was, asked.is_request) == ({3}, {1}, False)
    assert (wanted.now, wanted.is_request) == ({3}, True)
    assert not unanswered.now
    assert not ben.asked
    assert [*faults(ada)] == []


def test_a_line_that_cannot_be_read_is_told_with_its_place(tmp_path: Path):
    with pytest.raises(ValueError, match=r"histories\.txt:3: cannot be read: 2 x what"):
        list(read_histories(_written(tmp_path, "# Ada\n1 u hi\n2 x what\n")))


def test_an_answer_that_nobody_gave_is_a_fault(tmp_path: Path):
    (history,) = read_histories(_written(tmp_path, "# Ada\n1 u hi\n? who? | now 1 4 | was 1\n"))
    assert [*faults(history)] == [
        "who?: there is no message 4",
        "who?: one message answers it now and did before",
    ]


@pytest.mark.parametrize("file", sorted(DATA.glob("histories_*.txt")), ids=lambda it: it.stem)
def test_no_history_has_a_fault(file: Path):
    histories = list(read_histories(file))
    assert len(histories) >= 14
    assert [fault for history in histories for fault in faults(history)] == []
