"""Trigger policies: which archived results a message needs, before the model is asked."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from recollect.context.archives.triggers import choose, nearness_of, refers_back
from recollect.domain.archive import Archive
from recollect.domain.scope import Scope
from recollect.domain.sections import ArchiveSettings

_RIGHTS = Archive(
    id="arc_rights",
    scope=Scope(),
    session="s",
    thread=None,
    tool="search_docs",
    input="{}",
    input_hash="",
    query="永策Pro的权限管理怎么配置",
    summary="权限管理配置分三步：创建角色、分配菜单、绑定用户。",
    sources=("操作手册.pdf",),
    form="text",
    content_hash="",
    chars=50_000,
    lines=1,
    bytes=50_000,
    indexed_chars=50_000,
    created_at=datetime(2026, 3, 1, tzinfo=UTC),
    expires_at=None,
)
_REFUNDS = replace(
    _RIGHTS,
    id="arc_refunds",
    query="refund policy",
    summary="Refunds are paid within 14 days to the card that was used for the payment.",
    sources=("terms.md",),
)
_NEWEST_FIRST = [_REFUNDS, _RIGHTS]


async def _chosen(message: str, policy: Any, most: int = 1) -> list[str]:
    """By the words in common, as without an embedder."""
    nearness = await nearness_of(message, _NEWEST_FIRST, None)
    return choose(message, nearness, ArchiveSettings(policy=policy, similarity=0.5), most)


@pytest.mark.parametrize(
    "message",
    [
        "你之前说的配置步骤再详细说一下第三步",
        "刚才查到的结果里有没有提到角色",
        "上次说的那个文档叫什么",
        "把前面的内容展开说说",
        "What did you find earlier about refunds?",
        "Go back to the previous result, please",
        "you mentioned a card",
        "Tell me more about the third step",
    ],
)
async def test_messages_that_refer_back_are_noticed(message: str):
    assert refers_back(message)
    assert len(await _chosen(message, "keyword")) == 1


@pytest.mark.parametrize(
    "message", ["怎么导出报表？", "帮我写一首诗", "How do I export a report?", "Write a poem", ""]
)
async def test_messages_about_something_new_load_nothing(message: str):
    assert not refers_back(message)
    for policy in ("model", "keyword", "similarity", "mixed"):
        assert await _chosen(message, policy) == []


async def test_by_keyword_the_result_that_the_message_is_about_is_loaded():
    assert await _chosen("之前权限管理的步骤是什么", "keyword") == ["arc_rights"]
    assert await _chosen("what did you say earlier about refunds", "keyword") == ["arc_refunds"]


async def test_by_keyword_the_newest_result_is_loaded_when_none_is_named():
    assert await _chosen("刚才那个再说一遍", "keyword") == ["arc_refunds"]


async def test_by_similarity_a_question_needs_no_keyword():
    assert await _chosen("权限管理的角色怎么配置", "similarity") == ["arc_rights"]
    assert await _chosen("are refunds paid to the card", "similarity") == ["arc_refunds"]


async def test_mixed_needs_less_likeness_when_the_message_refers_back():
    message = "角色和菜单在哪里修改"
    assert await _chosen(message, "mixed") == []
    assert await _chosen("你之前说的" + message, "mixed") == ["arc_rights"]
    assert await _chosen("你之前说的天气怎么样", "mixed") == []


async def test_the_model_decides_by_default():
    assert await _chosen("你之前说的权限管理", "model") == []


async def test_no_more_than_wanted_are_loaded():
    assert await _chosen("之前的权限管理", "keyword") == ["arc_rights"]
    assert await _chosen("之前的权限管理", "keyword", 2) == ["arc_rights", "arc_refunds"]
    assert await nearness_of("之前的权限管理", [], None) == {}
