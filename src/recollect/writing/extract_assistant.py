"""What an assistant's sentence may be: the outcome of its work, or a proposal.

Whatever else an assistant says is advice: nobody's wish and nobody's fact yet.
"""

# ruff: noqa: E501 (one way a line)

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from recollect.domain.context import Tongue
from recollect.text.signal_patterns import Signs, at_words, lines
from recollect.writing.extract_chinese import ARTIFACT as ARTIFACT_CHINESE
from recollect.writing.extract_chinese import SAVED as SAVED_CHINESE
from recollect.writing.extract_english_words import ARTIFACT, SAVED
from recollect.writing.extract_rule import Rule

_OUTCOMES_ENGLISH: Final[tuple[Rule, ...]] = (
    Rule(
        "tool-effects",
        Signs(
            anywhere=at_words(
                rf"""
                {SAVED}
                (?:export|import|upload|download|backup|build|render\w*) (?:finished|complete|completed|done)\b
                """
            )
        ),
        also=ARTIFACT,
        confidence=0.75,
        event=True,
    ),
    Rule(
        "task-traces",
        Signs(
            r"(?:in )?conclusion\b|(?:final )?(?:result|outcome)s?:|fixed (?:in|by|with|the)\b",
            at_words(
                r"""
                i(?:'ve| have)(?: now| just| also| successfully)? (?:fixed|resolved|implemented|completed|deployed|refactored|removed|renamed|moved|migrated|installed|configured|finished|built|merged|committed|updated|added|created|replaced|reverted|published|sent|scheduled|booked|cancelled|upgraded)\b
                i (?:fixed|resolved|implemented|deployed|refactored|migrated|merged|committed|reverted)\b
                root cause\b
                (?:is|are) (?:now )?fixed\b
                (?:has|have) been (?:fixed|resolved|deployed|merged|completed|migrated|implemented|updated|sent)\b
                tests? (?:now )?pass(?:es|ed)?\b
                (?:finished|completed|done|succeeded):
                now (?:shows|works|passes|returns|uses|supports|handles)\b
                """
            ),
        ),
        confidence=0.7,
        event=True,
    ),
)
_PROPOSED_ENGLISH: Final = at_words(
    r"""
    i(?:'d)? (?:suggest|recommend|propose|advise)\b
    (?:shall|should) (?:i|we)\b
    would you like (?:me )?to\b
    (?:do you )?want me to\b
    (?:how|what) about\b
    (?:we|you|i) (?:could|should)\b
    (?:let's|may i|if i always)\b
    would it (?:help|be|make)\b
    """
)
_OUTCOMES_CHINESE: Final[tuple[Rule, ...]] = (
    Rule(
        "tool-effects",
        Signs(anywhere=SAVED_CHINESE),
        also=ARTIFACT_CHINESE,
        confidence=0.75,
        event=True,
    ),
    Rule(
        "task-traces",
        Signs(
            "(?:结论|结果|最终结论)[:：]|完成了?[:：。]",
            lines(
                """
                (?:已|已经|成功|刚刚?)(?:修复|解决|完成|实现|部署|重构|删除|重命名|迁移|安装|配置|合并|提交|更新|添加|替换|回滚|发布|发送|修改|升级|创建)
                根本原因|根因|(?:修复|解决|搞定|处理好)了
                测试(?:全部|都|均)?(?:通过|过了)|现在(?:会|可以|能|已)
                """
            ),
        ),
        confidence=0.7,
        event=True,
    ),
)
_PROPOSED_CHINESE: Final = lines(
    """
    我?(?:建议|推荐|提议)|要不要|是否|要不|需要我|你可以|我们可以|我可以|不如|可以考虑
    怎么样|会不会更好|好不好|如何
    """
)

OUTCOMES: Final[Mapping[Tongue, tuple[Rule, ...]]] = {
    "en": _OUTCOMES_ENGLISH,
    "zh": _OUTCOMES_CHINESE,
}
PROPOSED: Final[Mapping[Tongue, str]] = {"en": _PROPOSED_ENGLISH, "zh": _PROPOSED_CHINESE}
