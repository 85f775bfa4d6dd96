"""With the real default model: Chinese and English find each other, and nonsense finds nothing."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from recollect import Memory

_DATA = Path(__file__).parent.parent / "data"


@pytest.fixture
async def memory(real_model: None, database_path: Path) -> AsyncIterator[Memory]:
    async with Memory.open(database_path) as opened:
        yield opened


def _facts() -> list[tuple[str, str, str]]:
    lines = (_DATA / "bilingual.tsv").read_text(encoding="utf-8").splitlines()
    return [(language, question, fact) for language, question, fact in map(_split, lines)]


def _split(line: str) -> list[str]:
    return line.split("\t")


async def test_a_question_in_one_language_finds_the_fact_in_the_other(memory: Memory):
    facts = _facts()
    saved = await memory.remember_many([fact for _, _, fact in facts])
    found: dict[str, list[bool]] = {"en": [], "zh": []}
    for (language, question, _), record in zip(facts, saved, strict=True):
        if language in found:
            hits = await memory.recall(question, limit=5, min_score=0)
            found[language].append(record.id in [hit.id for hit in hits])
    for language, hits in found.items():
        assert len(hits) >= 20
        assert sum(hits) / len(hits) >= 0.85, language


async def test_most_facts_in_the_other_language_are_found_without_asking_for_weak_hits(
    memory: Memory,
):
    facts = _facts()
    saved = await memory.remember_many([fact for _, _, fact in facts])
    found = [
        record.id in [hit.id for hit in await memory.recall(question)]
        for (language, question, _), record in zip(facts, saved, strict=True)
        if language in ("en", "zh")
    ]
    assert sum(found) / len(found) >= 0.85


async def test_questions_about_something_else_find_nothing(memory: Memory):
    await memory.remember_many([fact for _, _, fact in _facts()])
    questions = (_DATA / "unrelated_questions.txt").read_text(encoding="utf-8").splitlines()
    assert len(questions) == 100
    silent = [len(await memory.recall(question)) == 0 for question in questions]
    assert sum(silent) >= 90


_TALK = """\
Hey Mia, how was your day? | Long! We hiked around the lake all morning and my feet still hurt.
That sounds lovely. Did the kids come along? | Yes, Tom carried his new telescope the whole way.
Great! What did you do after that? | We had soup at the little place by the bridge, then drove home.
How is the new job going? | Good, but the train is always late and the office is so cold.
Maybe bring a jumper. Are you still painting? | Every Sunday! I finished the sunrise for my sister.
She will love it. When is her party? | Next Saturday at our house, around six in the evening.
最近怎么样？ | 还不错，周末带孩子去公园放了风筝。
天气好吗？ | 特别好，天空很蓝，就是有点晒。
晚上吃了什么？ | 我妈做了红烧肉，大家都吃撑了。
你的吉他练得怎么样了？ | 每天练半小时，手指还是疼。
下个月有什么打算？ | 想和同事去云南玩一个星期。
太好了，记得带防晒霜。 | 哈哈，上次就忘了带，晒脱皮了。"""


async def test_questions_about_something_else_find_nothing_in_everyday_talk(memory: Memory):
    for day, line in enumerate(_TALK.splitlines()):
        for speaker, content in zip(("Ben", "Mia"), line.split(" | "), strict=True):
            said = {"role": "user", "name": speaker, "content": content}
            await memory.observe([said], session=f"day {day // 3}")
    questions = (_DATA / "unrelated_questions.txt").read_text(encoding="utf-8").splitlines()
    silent = [len(await memory.recall(question)) == 0 for question in questions]
    assert sum(silent) >= 90
    for question, answer in (
        ("Where did Mia have soup?", "bridge"),
        ("孩子去公园做什么？", "风筝"),
    ):
        assert any(answer in hit.content for hit in await memory.recall(question))


async def test_words_that_share_nothing_but_their_meaning_find_each_other(memory: Memory):
    saved = await memory.remember("Ann is allergic to peanuts")
    await memory.remember("The quarterly report is due on Friday")
    (hit, *_) = await memory.recall("which snacks could be dangerous for Ann?")
    assert hit.id == saved.id
    assert {"vector"} <= {it.path for it in hit.explanation.paths}


async def test_a_request_for_several_things_brings_a_memory_for_each(memory: Memory):
    await memory.remember_many(
        [
            "I am a structural engineer at Arup",
            "Our address is 14 Mill Lane in Lewes",
            "The plumber comes on Thursday at nine",
            "Miso the cat sleeps on the boiler",
            "My sister plays the cello",
        ]
    )
    request = (
        "Write a short note to hang on the door, for whoever rings, with our full address, "
        "and on which day the plumber is coming"
    )
    asked = await memory.context(request)
    assert "14 Mill Lane" in asked.text
    assert "Thursday at nine" in asked.text
    limited = await memory.context(request, limit=1)
    assert len(limited.ids) <= 1, "a limit that was chosen is kept"


async def test_a_question_about_oneself_is_not_answered_by_everything_that_says_i(memory: Memory):
    await memory.remember_many(
        [
            "I prefer a hotel with a gym",
            "I do not eat pork",
            "My mother lives in Porto",
            "I live in Lisbon with my wife Clara",
        ]
    )
    found = [hit.content for hit in await memory.recall("Where do I live?")]
    assert "I live in Lisbon with my wife Clara" in found
    assert not {"I prefer a hotel with a gym", "I do not eat pork"} & set(found)
