"""The guide tells an agent, in either language, what to remember and when to look back."""

import pytest

from recollect.domain.memory_tools import memory_guide
from recollect.language.characters import language
from recollect.language.memory_block import strip_memory

_STATED = {
    "zh": (
        # the four types
        *("user：用户画像", "project：项目知识", "feedback：行为反馈", "reference：引用"),
        # the six rules of storing
        "用户透露个人偏好、角色、习惯时，存为 user",
        "了解到项目进展、决策、约束时，存为 project",
        "用户纠正或确认你的行为时，存为 feedback",
        "提到外部资源链接时，存为 reference",
        "更新已有记忆而非创建重复条目",
        "只存储对未来对话有价值的信息",
        # the three reasons to load history
        "“之前”、“刚才说的”、“上次”",
        "追问之前回答中的具体细节",
        "摘要不足以回答",
    ),
    "en": (
        *("user: who the user is", "project: knowledge", "feedback: how", "reference: pointers"),
        "preference, role or habit, store it as user",
        "progress, decisions or constraints of the project, store it as project",
        "corrects or confirms what you did, store it as feedback",
        "outside resource is linked, store it as reference",
        "Update a memory that exists instead of creating a duplicate",
        "only what is of value to future conversations",
        '"before", "just now", "last time"',
        "details of an earlier answer",
        "summary in the placeholder is not enough",
    ),
}


@pytest.mark.parametrize("tongue", ["zh", "en"])
def test_types_rules_and_reasons_are_all_stated(tongue):
    guide = memory_guide(tongue)
    assert len(_STATED[tongue]) == 4 + 6 + 3
    assert [phrase for phrase in _STATED[tongue] if phrase not in guide] == []


@pytest.mark.parametrize("tongue", ["zh", "en"])
def test_the_tools_are_named_and_the_guide_is_in_one_language(tongue):
    guide = memory_guide(tongue)
    assert all(tool in guide for tool in ("memory_save", "memory_recall", "load_tool_history"))
    assert language(guide) == tongue


@pytest.mark.parametrize("tongue", ["zh", "en"])
def test_the_guide_is_not_taken_for_recalled_text(tongue):
    assert strip_memory(memory_guide(tongue)) == memory_guide(tongue)
