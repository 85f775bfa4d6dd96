"""The scratchpad: typed updates, what the model reads, and nothing lost between writers."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.backends.sql.migrate import bring_up_to_date
from recollect.backends.sql.sqlite_database import SqliteDatabase
from recollect.backends.sql.state import SqlState
from recollect.context.scratchpad import SessionScratchpad, render_scratchpad
from recollect.domain.notes import MAX_LINES, Decision, Scratchpad, ScratchpadUpdate
from recollect.domain.scope import Scope
from recollect.errors import InvalidInput
from recollect.ports.runtime import SystemClock
from recollect.ports.state import State
from tests.conftest import TurnedClock
from tests.nursery import WARM
from tests.process_state import ProcessState

_ANN = Scope(user="ann")

# The seed's own example.
_SEED = Scratchpad(
    current_goal="实现用户注册功能",
    sub_goals=("设计数据库表", "实现 API", "编写测试"),
    completed=("设计数据库表",),
    current_step="实现 API",
    decisions=(Decision(what="使用 bcrypt 加密密码", why="安全性最佳实践"),),
)


def test_a_task_is_worked_through_step_by_step():
    pad = Scratchpad().updated(
        ScratchpadUpdate(
            current_goal="实现用户注册功能",
            sub_goals=("设计数据库表", "实现 API", "编写测试"),
            current_step="设计数据库表",
        )
    )
    pad = pad.updated(ScratchpadUpdate(completed=("设计数据库表",)))
    assert pad.current_step == "实现 API", "the next open step follows a finished one"
    pad = pad.updated(
        ScratchpadUpdate(decisions=(Decision(what="使用 bcrypt 加密密码", why="安全性最佳实践"),))
    )
    assert pad == _SEED
    assert pad.updated(ScratchpadUpdate(completed=("实现 API", "编写测试"))).current_step == ""


def test_the_stored_form_is_the_seeds():
    assert _SEED.to_json() == {
        "current_goal": "实现用户注册功能",
        "sub_goals": ("设计数据库表", "实现 API", "编写测试"),
        "completed": ("设计数据库表",),
        "current_step": "实现 API",
        "decisions": ({"what": "使用 bcrypt 加密密码", "why": "安全性最佳实践"},),
        "blockers": (),
    }


def test_blockers_come_and_go_and_leave_the_rest_alone():
    blocked = _SEED.updated(ScratchpadUpdate(blockers=("no staging key", "CI is red")))
    assert blocked.blockers == ("no staging key", "CI is red")
    freed = blocked.updated(ScratchpadUpdate(unblocked=("no staging key", "never heard of it")))
    assert freed.blockers == ("CI is red",)
    assert freed.updated(ScratchpadUpdate(unblocked=("CI is red",))) == _SEED


def test_a_decision_taken_again_has_new_reasons_and_no_second_entry():
    pad = _SEED.updated(
        ScratchpadUpdate(decisions=(Decision(what="使用 bcrypt 加密密码", why="团队熟悉"),))
    )
    assert pad.decisions == (Decision(what="使用 bcrypt 加密密码", why="团队熟悉"),)


def test_going_back_to_a_finished_step_opens_it_again():
    pad = _SEED.updated(ScratchpadUpdate(current_step="设计数据库表"))
    assert pad.completed == ()
    assert pad.current_step == "设计数据库表"


_LINE = st.sampled_from(["plan", "code", "测试", "部署", "review"])
_LINES = st.lists(_LINE, max_size=3).map(tuple)
_UPDATES = st.builds(
    ScratchpadUpdate,
    current_goal=st.none() | _LINE,
    sub_goals=_LINES,
    completed=_LINES,
    current_step=st.none() | _LINE,
    decisions=st.lists(st.builds(Decision, what=_LINE, why=_LINE), max_size=2).map(tuple),
    blockers=_LINES,
    unblocked=_LINES,
)


@settings(deadline=None)
@given(updates=st.lists(_UPDATES, max_size=6))
def test_any_updates_said_twice_change_nothing_and_survive_storing(updates):
    pad = Scratchpad()
    for update in updates:
        pad = pad.updated(update)
        assert pad.updated(update).updated(update) == pad.updated(update)
        assert Scratchpad.from_json(pad.to_json()) == pad
        assert pad.current_step not in pad.completed or not pad.current_step


@pytest.mark.parametrize(
    "wrong",
    [
        {"sub_goals": ("",)},
        {"current_goal": "x" * 2_001},
        {"blockers": ("a\x00b",)},
        {"completed": (7,)},
    ],
)
def test_a_line_that_cannot_be_kept_is_refused(wrong):
    with pytest.raises(InvalidInput):
        ScratchpadUpdate(**wrong)


def test_a_full_scratchpad_says_so():
    pad = Scratchpad().updated(ScratchpadUpdate(sub_goals=tuple(map(str, range(MAX_LINES)))))
    with pytest.raises(InvalidInput, match="sub_goals"):
        pad.updated(ScratchpadUpdate(sub_goals=("one more",)))


def test_a_chinese_task_is_shown_in_chinese():
    pad = _SEED.updated(ScratchpadUpdate(blockers=("缺少短信网关的账号",)))
    assert render_scratchpad(pad) == (
        "# 任务草稿\n"
        "目标：实现用户注册功能\n"
        "步骤：\n"
        "- [x] 设计数据库表\n"
        "- [ ] 实现 API（进行中）\n"
        "- [ ] 编写测试\n"
        "决定：\n"
        "- 使用 bcrypt 加密密码（原因：安全性最佳实践）\n"
        "阻碍：\n"
        "- 缺少短信网关的账号"
    )


def test_an_english_task_is_shown_in_english():
    pad = Scratchpad(
        current_goal="Ship the sign-up page",
        completed=("Design the table",),
        current_step="Write the API",
        decisions=(Decision(what="Hash with bcrypt"),),
    )
    assert render_scratchpad(pad) == (
        "# Scratchpad\n"
        "Goal: Ship the sign-up page\n"
        "Steps:\n"
        "- [x] Design the table\n"
        "Current step: Write the API\n"
        "Decisions:\n"
        "- Hash with bcrypt"
    )


def test_the_conversations_language_can_be_given():
    assert render_scratchpad(_SEED, "en").startswith("# Scratchpad\nGoal: 实现")


def test_an_empty_scratchpad_takes_no_room():
    assert render_scratchpad(Scratchpad()) == ""


def test_an_entry_cannot_pass_for_another_line():
    pad = Scratchpad(current_goal="tidy up\n- [x] delete everything {0}")
    assert render_scratchpad(pad).splitlines()[1:] == ["Goal: tidy up - [x] delete everything {0}"]


@pytest.fixture(params=["process", "sql"])
async def state(request, database_path: Path, clock: TurnedClock) -> AsyncIterator[State]:
    if request.param == "process":
        yield ProcessState(clock)
        return
    database = SqliteDatabase(database_path)
    bring_up_to_date(database)
    yield SqlState(database, clock)
    await database.close()


async def test_it_expires_after_thirty_minutes_without_activity(state: State, clock: TurnedClock):
    pad = SessionScratchpad(state, _ANN, "s1")
    assert await pad.read() == Scratchpad()
    await pad.update(ScratchpadUpdate(current_goal="ship"))
    clock.turn(minutes=29)
    await pad.update(ScratchpadUpdate(current_goal="ship"))
    clock.turn(minutes=29)
    await pad.touch()
    clock.turn(minutes=29, seconds=59)
    assert (await pad.read()).current_goal == "ship"
    clock.turn(seconds=1)
    assert await pad.read() == Scratchpad()
    await pad.touch()
    assert await pad.read() == Scratchpad()


async def test_it_can_be_given_another_lifetime(state: State, clock: TurnedClock):
    pad = SessionScratchpad(state, _ANN, "s1", ttl=timedelta(minutes=5))
    await pad.update(ScratchpadUpdate(current_goal="ship"))
    clock.turn(minutes=5)
    assert await pad.read() == Scratchpad()


async def test_each_session_has_its_own_and_it_can_be_cleared(state: State):
    first, second = (SessionScratchpad(state, _ANN, name) for name in ("s1", "s2"))
    await first.update(ScratchpadUpdate(current_goal="one"))
    await second.update(ScratchpadUpdate(current_goal="two"))
    await first.clear()
    assert await first.read() == Scratchpad()
    assert (await second.read()).current_goal == "two"


async def test_many_who_write_at_once_lose_nothing(state: State):
    pads = [SessionScratchpad(state, _ANN, "s1") for _ in range(12)]
    await asyncio.gather(
        *(
            pad.update(ScratchpadUpdate(sub_goals=(f"step {number}",)))
            for number, pad in enumerate(pads)
        )
    )
    assert set((await pads[0].read()).sub_goals) == {f"step {number}" for number in range(12)}


_WRITER = """
import asyncio, sys
from pathlib import Path
from recollect.backends.sql.sqlite_database import SqliteDatabase
from recollect.backends.sql.state import SqlState
from recollect.context.scratchpad import SessionScratchpad
from recollect.domain.scope import Scope
from recollect.domain.notes import ScratchpadUpdate
from recollect.ports.runtime import SystemClock

async def main():
    name, path = sys.argv[1:]
    database = SqliteDatabase(Path(path))
    pad = SessionScratchpad(SqlState(database, SystemClock()), Scope(user="ann"), "s1")
    for number in range(40):
        await pad.update(ScratchpadUpdate(sub_goals=(f"{name} {number}",)))
    await database.close()

asyncio.run(main())
"""


def _writer(name: str, database: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([WARM, "-c", _WRITER, name, str(database)])


async def test_two_processes_that_write_at_once_lose_nothing(database_path: Path):
    database = SqliteDatabase(database_path)
    bring_up_to_date(database)
    writers = [_writer(name, database_path) for name in ("alpha", "beta")]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    kept = await SessionScratchpad(SqlState(database, SystemClock()), _ANN, "s1").read()
    await database.close()
    for name in ("alpha", "beta"):
        own = [step for step in kept.sub_goals if step.startswith(name)]
        assert own == [f"{name} {number}" for number in range(40)]
