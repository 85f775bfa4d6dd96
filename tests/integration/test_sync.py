"""The blocking memory, as a script, a thread pool and a careless program use it."""

import signal
import subprocess
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from recollect import Record
from recollect.errors import Closed, NotFound, RecollectError, StorageError
from recollect.sync import Memory
from tests.database_servers import environment_of, place_of
from tests.nursery import WARM
from tests.processes import HEAR_CTRL_C


def loop_threads():
    return [it for it in threading.enumerate() if it.name == "recollect-loop"]


@pytest.fixture
def memory(database_path):
    with Memory.open(database_path) as opened:
        yield opened


def test_a_script_remembers_recalls_and_finds_it_again_next_time(database_path):
    with Memory.open(database_path) as memory:
        saved = memory.remember("安娜喜欢手冲咖啡", category="preference")
        assert isinstance(saved, Record)
        assert [hit.id for hit in memory.recall("咖啡")] == [saved.id]

    with Memory.open(database_path) as memory:
        changed = memory.update(saved.id, "安娜现在只喝绿茶")
        assert changed.version == 2
        assert [version.number for version in memory.history(saved.id)] == [1, 2]
        assert memory.undo(saved.id).content == "安娜喜欢手冲咖啡"


def test_opening_without_with_works_until_closed(database_path):
    memory = Memory.open(database_path)
    memory.observe([{"role": "user", "content": "The deploy key is in the vault."}], session="s")

    assert [turn.content for turn in memory.turns(session="s")] == [
        "The deploy key is in the vault."
    ]
    memory.close()
    memory.close()
    assert not loop_threads()


def test_after_closing_every_view_says_so(database_path):
    with Memory.open(database_path) as memory:
        ann = memory.scope(user="ann")

    for closed in (memory, ann):
        with pytest.raises(Closed) as problem:
            closed.remember("too late")
        assert problem.value.hint


def test_scopes_share_the_loop_and_closing_one_closes_nothing(memory):
    ann, bob = memory.scope(user="ann"), memory.scope(user="bob")
    ann.remember("Ann's passport expires in May.")

    ann.close()

    assert len(loop_threads()) == 1
    assert ann.caller_scope.user == "ann"
    assert len(ann.recall("passport")) == 1
    assert len(bob.recall("passport")) == 0
    assert bob.anonymous_user == memory.anonymous_user


def test_errors_are_those_of_the_async_memory(memory):
    with pytest.raises(NotFound):
        memory.get("mem_unknown")


@pytest.mark.sqlite(reason="it is about a file")
def test_a_memory_that_cannot_be_opened_leaves_no_thread(tmp_path):
    (tmp_path / "broken.db").write_bytes(b"this is no database at all" * 100)

    with pytest.raises(StorageError):
        Memory.open(tmp_path / "broken.db")

    assert not loop_threads()


def test_several_threads_may_use_one_memory(memory):
    def save(number):
        return memory.scope(user=f"u{number % 3}").remember(f"fact number {number}").id

    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(save, range(60)))

    assert len(set(ids)) == 60
    assert [memory.scope(user=f"u{it}").stats().store.records for it in range(3)] == [20, 20, 20]


async def test_inside_a_running_event_loop_it_works_and_blocks(database_path):
    with Memory.open(database_path) as memory:
        memory.remember("Called from a coroutine.")

        assert len(memory.recall("coroutine")) == 1


def test_a_generator_that_asks_the_memory_it_feeds_is_told_instead_of_hanging(memory):
    memory.remember("Paris is in France.")

    def echoes():
        for hit in memory.recall("Paris"):
            yield f"again: {hit.content}"

    with pytest.raises(RecollectError) as problem:
        memory.remember_many(echoes())

    assert problem.value.code == "would_deadlock"
    assert len(memory.list()) == 1
    assert len(memory.remember_many([*echoes()])) == 1


def test_closing_while_others_write_gives_each_a_result_or_an_error(database_path):
    memory = Memory.open(database_path)
    saved = [memory.remember("the first").id]
    refused = []

    def write():
        for number in range(1_000):
            try:
                saved.append(memory.remember(f"note {number}").id)
            except Closed as problem:
                refused.append(problem)
                return

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    while len(saved) < 20:
        time.sleep(0.001)
    memory.close()
    for writer in writers:
        writer.join(timeout=10)
        assert not writer.is_alive()

    assert len(refused) == 4
    with Memory.open(database_path) as again:
        for ident in saved:
            again.get(ident)


def start(program, place, environment=None):
    return subprocess.Popen(
        [WARM, "-c", HEAR_CTRL_C + textwrap.dedent(program), place],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def test_a_program_that_forgets_to_close_ends_quietly_and_loses_nothing(database_path):
    program = start(
        """
        import sys
        from recollect.sync import Memory
        Memory.open(sys.argv[1]).remember("kept all the same")
        """,
        place_of(database_path),
        environment_of(database_path),
    )

    _, complaints = program.communicate(timeout=120)

    assert (program.returncode, complaints) == (0, "")
    with Memory.open(database_path) as memory:
        assert len(memory.recall("kept")) == 1


def test_ctrl_c_during_a_call_interrupts_it_and_the_program_ends(database_path):
    """The call waits for a lock that another connection holds for longer than the test lives."""
    program = start(
        """
        import sqlite3, sys, time
        from recollect.sync import Memory
        memory = Memory.open(sys.argv[1])
        other = sqlite3.connect(sys.argv[1], isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            print("waiting", flush=True)
            memory.remember("never written")
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """,
        str(database_path),
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "waiting\n"
    time.sleep(0.3)  # let it enter the call
    program.send_signal(signal.SIGINT)

    told, complaints = program.communicate(timeout=120)

    assert (told, program.returncode, complaints) == ("interrupted\n", 0, "")
