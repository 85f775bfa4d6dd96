"""The arguments of each tool. The scope is never one of them."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from recollect.domain.fields import MAX_DESCRIPTION, MAX_TITLE
from recollect.domain.memory_tools import types_of_memory
from recollect.domain.record import Kind

MemoryType = Literal["user", "project", "feedback", "reference"]

# The key of the Chinese description in the schema of a field.
CHINESE: Final = "zh"
MOST_RESULTS: Final = 100


def _described(english: str, chinese: str) -> Any:
    """Return a field with its description in both languages."""
    return Field(description=english, json_schema_extra={CHINESE: chinese})


Query = _described("What to look for", "搜索关键词或问题")
Limit = Annotated[int, Field(ge=1, le=MOST_RESULTS)]
HowMany = _described("How many at most", "返回条数")
MinScore = Annotated[
    float, Field(ge=0, le=1), _described("How well it must fit, from 0 to 1", "最低相关度，0 到 1")
]
Namespace = Annotated[
    str | None,
    _described(
        "A part of memory as memory_route names it, such as user-profile, or one of your own "
        "namespaces, such as user_profile/ann; leave it out for the usual one",
        "memory_route 给出的记忆部分，例如 user-profile，或你自己的命名空间之一，"
        "例如 user_profile/ann；一般不填",
    ),
]
Metadata = _described(
    "type (category), tags, source, importance, confidence, ttl (seconds), strategy when it meets "
    "an older memory (overwrite, append, summarise), and anything else worth keeping",
    "type（类别）、tags、source、importance、confidence、ttl（秒）、"
    "与旧记忆相遇时的 strategy（overwrite 覆盖、append 追加、summarise 摘要合并），"
    "以及其他附加信息",
)
Type = _described("; ".join(types_of_memory("en")), "；".join(types_of_memory("zh")))


class Arguments(BaseModel):
    """The arguments of a tool; unknown ones are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SaveMemory(Arguments):
    content: Annotated[str | None, _described("The memory itself", "记忆正文")] = None
    action: Annotated[
        Literal["create", "update", "delete"],
        _described("What to do", "要执行的操作：新建、更新或删除"),
    ] = "create"
    name: Annotated[
        str | None, Field(max_length=MAX_TITLE), _described("Title of the memory", "记忆标题")
    ] = None
    type: Annotated[MemoryType | None, Type] = None
    description: Annotated[
        str | None,
        Field(max_length=MAX_DESCRIPTION),
        _described("One line that tells what it is about", "一行描述，用于判断相关性"),
    ] = None
    id: Annotated[
        str | None, _described("Which memory to update or delete", "更新或删除时的记忆 ID")
    ] = None


class RecallMemory(Arguments):
    query: Annotated[str, Query]
    type: Annotated[MemoryType | None, _described("Only this type", "只检索这一类型")] = None
    limit: Annotated[Limit, HowMany] = 5


class SearchMemory(Arguments):
    query: Annotated[str, Query]
    namespace: Namespace = None
    top_k: Annotated[Limit, HowMany] = 5
    min_score: MinScore = 0.3


class WriteMemory(Arguments):
    content: Annotated[str, _described("What to remember", "要记住的内容")]
    namespace: Namespace = None
    metadata: Annotated[dict[str, Any], Metadata]


class UpdateMemory(Arguments):
    id: Annotated[str, _described("Which memory", "记忆 ID")]
    content: Annotated[str | None, _described("Its new text", "新的内容")] = None
    metadata: Annotated[dict[str, Any] | None, Metadata] = None
    merge: Annotated[
        bool,
        _described(
            "Merge with what is stored, the text as metadata.strategy says; false replaces it",
            "与已有内容合并，正文按 metadata.strategy 处理；false 为直接替换",
        ),
    ] = True


class DeleteFilters(Arguments):
    namespace: Namespace = None
    kind: Annotated[Kind | None, _described("Only this kind", "只限这一种类")] = None
    category: Annotated[str | None, _described("Only this category", "只限这一类别")] = None
    tags: Annotated[list[str], _described("With all of these tags", "同时带有这些标签")] = []
    since: Annotated[AwareDatetime | None, _described("From this time on", "此时间起")] = None
    until: Annotated[AwareDatetime | None, _described("Before this time", "此时间之前")] = None
    session: Annotated[str | None, _described("Only of this session", "只限这一会话")] = None
    task: Annotated[str | None, _described("Only of this task", "只限这一任务")] = None


class DeleteMemory(Arguments):
    id: Annotated[str | None, _described("Which memory", "记忆 ID")] = None
    filters: Annotated[
        DeleteFilters | None,
        _described("Or all that meet these conditions", "或删除符合这些条件的全部记忆"),
    ] = None
    dry_run: Annotated[
        bool, _described("Only count what would be deleted", "只统计将删除的条数，不实际删除")
    ] = False


class SummarizeMemory(Arguments):
    items: Annotated[
        list[str],
        Field(min_length=1, max_length=MOST_RESULTS),
        _described("Ids of memories, or texts", "记忆 ID 或文本"),
    ]
    goal: Annotated[str, _described("What the summary is for", "摘要的目的")]


class ReadProfile(Arguments):
    pass


class RouteMessage(Arguments):
    message: Annotated[str, _described("The message to judge", "要判断的消息")]
    context: Annotated[str | None, _described("What was said before it", "此前的对话")] = None
    policy: Annotated[
        Literal["default", "auto", "explicit", "off"],
        _described(
            "What may be written; default is the agent's own", "写入策略；default 为本智能体的设置"
        ),
    ] = "default"


class ProposeMemory(Arguments):
    content: Annotated[
        str,
        _described("What all agents of the workspace should know", "希望所有智能体都知道的内容"),
    ]
    type: Annotated[
        Literal["project-context", "adr", "convention", "known-issue", "preference"],
        _described(
            "project-context, adr (an architecture decision), convention, known-issue, or "
            "preference (of the user)",
            "project-context 项目上下文、adr 架构决策、convention 约定、known-issue 已知问题、"
            "preference 用户偏好",
        ),
    ]
    reason: Annotated[str | None, _described("Why it should be shared", "为什么应当共享")] = None


class LoadToolHistory(Arguments):
    uuid: Annotated[
        str,
        _described(
            "Id of the tool result, from its placeholder", "工具结果的 UUID（从占位符中获取）"
        ),
    ]
    query: Annotated[
        str | None, _described("Load only the passages about this", "只加载与此相关的段落")
    ] = None
    range: Annotated[
        str | None,
        _described(
            "Load only a part: '10-20' (lines) or 'chars 0-2000'",
            "只加载一部分：“10-20”（行）或“chars 0-2000”",
        ),
    ] = None


class DecisionMade(Arguments):
    what: Annotated[str, _described("What was decided", "决定的内容")]
    why: Annotated[str, _described("Why", "原因")] = ""


class UpdateScratchpad(Arguments):
    current_goal: Annotated[str | None, _described("The goal of the task", "任务目标")] = None
    sub_goals: Annotated[list[str], _described("Steps to add", "新增的步骤")] = []
    completed: Annotated[list[str], _described("Steps that are done", "已完成的步骤")] = []
    current_step: Annotated[str | None, _described("The step at hand", "当前步骤")] = None
    decisions: Annotated[list[DecisionMade], _described("Decisions made", "新作出的决定")] = []
    blockers: Annotated[list[str], _described("What stands in the way", "新出现的阻碍")] = []
    unblocked: Annotated[list[str], _described("Blockers that are gone", "已解除的阻碍")] = []


class SearchKnowledge(Arguments):
    query: Annotated[str, Query]
    top_k: Annotated[Limit, HowMany] = 5
    min_score: MinScore = 0.3
