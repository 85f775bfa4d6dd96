"""What people say, through the whole of saving, beside the embedder alone on the same texts.

An ingest is over when every text has its vector and all background work is done.

- `texts`: sentences saved together by `remember_many`.
- `chat`: a sentence and an answer of eight, observed together.
- `turns`: the shortest there are, two sentences observed together.
- `read`: the same as is the default, also read for what is worth remembering.

With `--corpus FILE` (packed JSON lines, each with a `text`) its texts, together and as turns.
With `--sets FOLDER` each of the recall sets in it, told as `recollect bench recall` tells them.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recollect import Memory
from recollect.assemble.embedding import wanted_embedder
from recollect.evaluation.replay import first_told, read_set, sets_in, text_of, told_per_second
from recollect.language.token_estimate import EstimatedTokens
from recollect.ports.embedder import Embedder, EmbedderAround, Progress, Purpose
from recollect.settings import Settings

ROUNDS = 15
TURNS = 256
WARM_UP = 64
"""Turns, of each form in each language."""
AT_ONCE = 2
"""What is observed together: what one said and what the other answered."""
ANSWER = 8
"""Sentences in an answer of a chat."""
MODES = ("texts", "chat", "turns", "read")

SAID = {
    "english": (
        "Good morning, {who}! Did you sleep well after the flight from {where} on {day}?",
        "I spent the whole afternoon of {day} cleaning the {what} with {who}.",
        "Can you remind me what {who} said about the {what} in {where}?",
        "We moved the {what} review to {day} because {who} was travelling to {where}.",
        "That sounds great, let me know how the {what} goes on {day} and greet {who} from me.",
        "The budget for the {what} in {where} was raised by {who} after a long talk.",
        "I prefer to take the early train to {where} on {day} when {who} drives.",
        "{who} told me the {what} in {where} is still broken, nobody has looked at it yet.",
        "Sure, I can draft the {what} summary and send it to {who} before {day}.",
        "Honestly the food in {where} was fine but {who} found the {what} rather slow.",
        "{who} is going to study medicine in {where} after the {what} ends on {day}.",
        "Thanks, that {what} from {where} is exactly what {who} was looking for.",
        "On {day} we ended up watching an old film about {where} and {who} fixed the {what}.",
        "The {what} in {where} went down twice, so {who} switched to the backup.",
        "What would you suggest for a rainy {day} in {where} with {who}?",
        "I have not tried the new {what} in {where} yet, does {who} think it is worth it?",
    ),
    "chinese": (
        "{who}早上好，{day}从{where}飞回来累不累？",
        "{day}我和{who}花了一整个下午收拾{what}。",
        "你还记得{who}在{where}怎么说{what}的事吗？",
        "因为{who}要去{where}出差，我们把{what}的评审改到了{day}。",
        "听起来不错，{day}{what}有进展让{who}告诉我一声。",
        "{who}讨论了很久，最后提高了{where}{what}的预算。",
        "{who}开车的话，{day}我更喜欢坐早班车去{where}。",
        "{who}说{where}的{what}还是坏的，一直没有人去看。",
        "好的，我可以先写个{what}的摘要，{day}之前发给{who}。",
        "说实话{where}的菜还可以，就是{who}觉得{what}有点慢。",
        "{what}{day}结束以后，{who}要去{where}学医。",
        "谢谢，{where}的这个{what}正是{who}想找的。",
        "{day}我们看了一部讲{where}的老电影，{who}顺便修好了{what}。",
        "{where}的{what}宕机了两次，所以{who}切到了备用机。",
        "{day}下雨的话，和{who}在{where}有什么好玩的推荐吗？",
        "{where}新的{what}我还没试过，{who}觉得值得吗？",
    ),
}
# Of lengths without a common factor, so that no sentence comes twice.
FILLED = {
    "english": {
        "who": ["Mia", "Tom", "Dr. Patel", "Lena", "Carlos", "Yuki", "Omar", "Grace"],
        "what": [
            "coffee machine",
            "login page",
            "garden project",
            "printer",
            "school play",
            "app",
            "lift",
        ],
        "day": ["Monday", "Friday morning", "the 14th", "next Thursday", "Sunday"],
        "where": [
            "Oslo",
            "Lisbon",
            "Denver",
            "Kyoto",
            "Leeds",
            "Nairobi",
            "Quito",
            "Turin",
            "Perth",
        ],
    },
    "chinese": {
        "who": ["小李", "王芳", "陈老师", "张伟", "阿强", "刘洋", "小雪", "老周"],
        "what": ["咖啡机", "登录页面", "花园项目", "打印机", "校庆演出", "手机应用", "电梯"],
        "day": ["周一", "周五上午", "十四号", "下周四", "星期天"],
        "where": ["奥斯陆", "成都", "青岛", "京都", "西安", "昆明", "厦门", "大连", "苏州"],
    },
}


def sentences(language: str) -> Iterator[str]:
    """What people say to each other, 40 tokens at most, no two alike."""
    if language == "mixed":
        yield from chain.from_iterable(
            zip(sentences("english"), sentences("chinese"), strict=False)
        )
        return
    number = 0
    while True:
        filled = {name: words[number % len(words)] for name, words in FILLED[language].items()}
        yield from (said.format(**filled) for said in SAID[language])
        number += 1


def corpus(path: Path) -> Iterator[str]:
    """The texts of a file, each once: the embedder remembers what it has read."""
    with gzip.open(path, "rt") as lines:
        yield from dict.fromkeys(json.loads(line)["text"] for line in lines)


async def embed(embedder: Embedder, texts: list[str]) -> float:
    start = time.perf_counter()
    await embedder.embed(texts, "passage")
    return time.perf_counter() - start


async def ingest(memory: Memory, texts: list[str], mode: str) -> float:
    messages = [
        {"role": "assistant" if place % 2 else "user", "content": text}
        for place, text in enumerate(texts)
    ]
    start = time.perf_counter()
    if mode == "texts":
        await memory.remember_many(texts)
    else:
        for first in range(0, len(messages), AT_ONCE):
            await memory.observe(messages[first : first + AT_ONCE], session="talk")
    await memory.drain()
    return time.perf_counter() - start


def said(spoken: Iterator[str], mode: str, turns: int) -> list[str]:
    """So many turns, or as many tokens in fewer turns of a chat."""
    if mode != "chat":
        return list(islice(spoken, turns))
    pairs = range(turns // (1 + ANSWER))
    return [
        text
        for _ in pairs
        for text in (next(spoken), " ".join(next(spoken) for _ in range(ANSWER)))
    ]


async def measure(spoken: Iterator[str], mode: str, settings: Settings) -> dict[str, float]:
    """Rounds alternate, so that a busy machine slows both sides alike."""
    policy = settings.writing.policy if mode == "read" else "off"
    writing = settings.writing.model_copy(update={"policy": policy})
    count = EstimatedTokens().count
    alone: list[float] = []
    ours: list[float] = []
    turns = tokens = 0
    with tempfile.TemporaryDirectory() as folder:
        storage = settings.storage.model_copy(update={"path": Path(folder) / "memory.db"})
        own = settings.model_copy(update={"storage": storage, "writing": writing})
        embedder = wanted_embedder(own)
        assert embedder is not None, "there must be an embedding model"
        async with Memory.open(own, embedder=embedder) as memory:
            # What takes long once, like loading the model, its dictionary and the patterns of what
            # is worth remembering, is no part of it.
            await ingest(memory, said(spoken, mode, WARM_UP), mode)
            while len(ours) < ROUNDS and (texts := said(spoken, mode, TURNS)):
                turns += len(texts)
                tokens += sum(map(count, texts))
                alone.append(await embed(embedder, texts))
                ours.append(await ingest(memory, texts, mode))
        await embedder.close()
    return {
        "turns_per_s": round(turns / sum(ours), 1),
        "tokens_per_s": round(tokens / sum(ours)),
        "embedder_turns_per_s": round(turns / sum(alone), 1),
        "share": round(statistics.median(map(float.__truediv__, alone, ours)), 3),
    }


class Overheard(EmbedderAround):
    """An embedder, and all that it was given to read."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self.texts: list[str] = []

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        self.texts += texts
        return await super().embed(texts, purpose, progress)


async def measure_set(folder: Path, name: str, settings: Settings) -> dict[str, float]:
    """The tokens that are told in a second, beside those that the embedder alone reads.

    What is said again is told again, but read only once: those who use the embedder alone would
    have it read twice.
    """
    count = EstimatedTokens().count
    sample = first_told(read_set(folder, name))
    told = sum(count(text_of(unit)) for unit in sample.units)
    embedder = wanted_embedder(settings)
    assert embedder is not None, "there must be an embedding model"
    await told_per_second(first_told(sample, most=WARM_UP), settings, embedder)
    alone: list[float] = []
    ours: list[float] = []
    units: list[float] = []
    for _ in range(ROUNDS):
        overheard = Overheard(embedder)
        units.append(await told_per_second(sample, settings, overheard))
        ours.append(told * units[-1] / len(sample.units))
        read = sum(map(count, overheard.texts))
        alone.append(read / await embed(embedder, overheard.texts))
    await embedder.close()
    return {
        "units": len(sample.units),
        "units_per_s": round(statistics.median(units), 1),
        "tokens_per_s": round(statistics.median(ours)),
        "embedder_tokens_per_s": round(statistics.median(alone)),
        "share": round(statistics.median(map(float.__truediv__, ours, alone)), 3),
    }


async def measure_sets(folder: Path, settings: Settings) -> dict[str, dict[str, float]]:
    figures: dict[str, dict[str, float]] = {}
    for name in sets_in(folder):
        found = figures[name] = await measure_set(folder, name, settings)
        print(
            f"{name:18}"
            "{units_per_s:>7} units/s {tokens_per_s:>6} tokens/s, {share:.0%} of the embedder "
            "({embedder_tokens_per_s} tokens/s)".format(**found),
            flush=True,
        )
    return figures


async def measure_forms(settings: Settings) -> dict[str, dict[str, float]]:
    figures: dict[str, dict[str, float]] = {}
    sources = {name: partial(sentences, name) for name in ("english", "chinese", "mixed")}
    modes = MODES
    if "--corpus" in sys.argv:
        path = Path(sys.argv[sys.argv.index("--corpus") + 1])
        sources, modes = {path.name.partition(".")[0]: partial(corpus, path)}, ("texts", "turns")
    for name, spoken in sources.items():
        for mode in modes:
            found = figures[f"{name}_{mode}"] = await measure(spoken(), mode, settings)
            print(
                f"{name:8} {mode:7}"
                "{turns_per_s:>7} turns/s {tokens_per_s:>6} tokens/s, {share:.0%} of the embedder "
                "({embedder_turns_per_s} turns/s)".format(**found)
            )
    return figures


async def main() -> None:
    settings = Settings.load()
    if "--sets" in sys.argv:
        folder = Path(sys.argv[sys.argv.index("--sets") + 1])
        figures = await measure_sets(folder, settings)
    else:
        figures = await measure_forms(settings)
    if "--json" in sys.argv:
        print(json.dumps(figures))


asyncio.run(main())
