"""Whatever is changed in the chain of the audit is found, in whichever script it was told."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.audit import ChainHead, SealableEntry, first_head, link_after
from recollect.domain.filters import Filter
from recollect.domain.injection import filter_form, filter_from
from recollect.domain.record import Kind, Status
from recollect.sync import Memory
from tests.examples import examples

LINKS = 6
FIELDS = ("org", "workspace", "seq", "entry", "at", "actor", "action", "target", "mac", "hash")
texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)
moments = st.datetimes(timezones=st.just(UTC))


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, Path]]:
    path = tmp_path_factory.mktemp("audit") / "memory.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECOLLECT_EMBEDDING__MODEL", "none")
        with Memory.open(path) as memory:
            for number in range(LINKS):
                memory.remember(f"note {number} 笔记", reason="为什么不")
            memory.audit.seal()
            yield memory, path


@given(
    seq=st.integers(1, LINKS),
    field=st.sampled_from(FIELDS),
    number=st.integers(-(2**62), 2**62),
    text=texts,
)
@settings(max_examples=examples(40), deadline=None)
def test_one_changed_field_of_any_link_is_found(
    sealed: tuple[Memory, Path], seq: int, field: str, number: int, text: str
):
    memory, path = sealed
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        where = "WHERE org = ? AND workspace = ? AND seq = ?"
        (before,) = connection.execute(
            f"SELECT {field} FROM audit_chain WHERE seq = ?", (seq,)
        ).fetchone()
        place = {"org": "local", "workspace": "default", "seq": seq}
        after = number if isinstance(before, int) else text
        if after == before or (field == "seq" and 1 <= number <= LINKS):
            return
        change = f"UPDATE audit_chain SET {field} = ? {where}"
        connection.execute(change, (after, *place.values()))
        try:
            assert not memory.audit.verify().is_intact
        finally:
            connection.execute(
                change, (before, *(place | {field: after} if field in place else place).values())
            )
        assert memory.audit.verify().is_intact


entries = st.builds(
    SealableEntry,
    id=st.integers(1, 2**60),
    scope_number=st.integers(1, 2**30),
    at=st.integers(0, 2**60),
    actor=texts,
    action=texts,
    target=texts,
    payload=texts,
    salt=st.text("0123456789abcdef", min_size=32, max_size=32),
    seq=st.none(),
)


@given(entry=entries, data=st.data())
@settings(max_examples=examples(200), deadline=None)
def test_a_link_tells_apart_any_two_entries(entry: SealableEntry, data: st.DataObject):
    head = first_head("local", "default")
    name = data.draw(
        st.sampled_from(
            ["id", "scope_number", "at", "actor", "action", "target", "payload", "salt"]
        )
    )
    value = getattr(data.draw(entries), name)
    other = replace(entry, **{name: value})
    is_same = link_after(head, entry) == link_after(head, other)
    assert is_same == (entry == other)


def test_chains_begin_differently_and_depend_on_all_before():
    entry = SealableEntry(
        id=1,
        scope_number=1,
        at=1_800_000_000_000_000,
        actor="ann",
        action="remember",
        target="mem_1",
        payload="{}",
        salt="00",
        seq=None,
    )
    heads = [first_head("a", "b/c"), first_head("a/b", "c"), first_head("港", "口")]
    assert len({link_after(head, entry).hash for head in heads}) == 3
    link = link_after(heads[0], entry)
    after = ChainHead(org="a", workspace="b/c", seq=link.seq, hash=link.hash)
    assert link_after(after, entry).hash != link.hash
    # Who did it is not in the link, and cannot be told without the key.
    assert "ann" not in str(link)
    assert link.actor != link_after(heads[0], replace(entry, salt="01")).actor


filters = st.builds(
    Filter,
    kinds=st.frozensets(st.sampled_from(Kind)),
    categories=st.frozensets(texts),
    tags=st.frozensets(texts),
    statuses=st.frozensets(st.sampled_from(Status), min_size=1),
    since=st.none() | moments,
    until=st.none() | moments,
    session=st.none() | texts,
    task=st.none() | texts,
    as_of=st.none() | moments,
    valid_at=st.none() | moments,
    owners=st.frozensets(st.sampled_from(["record", "turn"]), min_size=1),
)


@given(where=filters)
@settings(deadline=None)
def test_a_filter_survives_being_kept(where: Filter):
    assert filter_from(filter_form(where)) == where
