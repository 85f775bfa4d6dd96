"""The words of the notes after each item of a block: its origin, its trust, its age."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from recollect.domain.context import Tongue


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteWords:
    """The words of the notes in one language."""

    stated: str
    saved: str
    inferred: str
    shared: str
    turn: str
    superseded: str
    earlier: str
    disputed: str
    confidence: str
    sources: str
    whole: str
    roles: Mapping[str, str]


WORDS: Final[Mapping[Tongue, NoteWords]] = {
    "zh": NoteWords(
        stated="用户明说",
        saved="主动保存",
        inferred="推断",
        shared="由 {} 共享",
        turn="对话原文",
        superseded="后来有变",
        earlier="较早的说法",
        disputed="有争议，另有记录与此矛盾",
        confidence="置信度: {:.0%}",
        sources="来源: {}次对话",
        whole="全文: {}",
        roles={
            "user": "用户",
            "assistant": "助手",
            "system": "系统",
            "developer": "系统",
            "tool": "工具",
            "function": "工具",
        },
    ),
    "en": NoteWords(
        stated="user-stated",
        saved="saved",
        inferred="inferred",
        shared="shared by {}",
        turn="turn",
        superseded="since changed",
        earlier="earlier",
        disputed="disputed, another record says otherwise",
        confidence="confidence: {:.0%}",
        sources="sources: {}",
        whole="full text: {}",
        roles={},
    ),
}
