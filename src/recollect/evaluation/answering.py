"""LoCoMo and LongMemEval asked of Recollect: what is found, answered and judged to be right.

Each question is one line of a file of results, which is all there is to a run: it is told from the
lines, and a run that was stopped goes on behind the last of them.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, cast

from recollect.assemble.embedding import wanted_embedder
from recollect.assemble.language import (
    ChatModel,
    chat_model,
    chat_model_name,
    checked_model_name,
)
from recollect.domain.files import open_new
from recollect.domain.hit import Hit, Recalled
from recollect.domain.message import Message, Role, TextPart
from recollect.domain.model_tier import NO_MODEL, Reply
from recollect.errors import Conflict, ModelError
from recollect.evaluation.metrics import Judged, found_all, hit
from recollect.evaluation.originals import Expected, Talks
from recollect.evaluation.replay import (
    DiskCachedEmbedder,
    RecallSet,
    Replay,
    SetQuery,
    thrown_away,
)
from recollect.memory import Memory
from recollect.settings import Settings

_AT_ONCE: Final = 4
_ANSWER_TOKENS: Final = 200
_VERDICT_TOKENS: Final = 10
_ANSWERING: Final = (
    "You answer questions from what is remembered of earlier conversations, and from nothing else. "
    "Answer in as few words as you can. If the memories do not tell, say that you do not know."
)
_JUDGING: Final = (
    "You check answers against the expected one. An answer is right if it says the same or has all "
    "of it, in whatever words; part of it is not enough. {more}\n\nQuestion: {question}\n"
    "Expected answer: {expected}\nGiven answer: {given}\n\n"
    "Is the given answer right? Say yes or no, nothing else."
)
# What counts as right depends on what is asked for, as in the judges of both benchmarks.
_MORE: Final[Mapping[str, str]] = {
    "temporal": "A date may be written in any form.",
    "temporal-reasoning": "A number of days, weeks or months may be one more or one less.",
    "knowledge-update": "It may also tell what was so before.",
    "single-session-preference": (
        "The expected answer describes what a good one takes into account; not all of it is needed."
    ),
}
_NOT_KNOWN: Final = "Nothing in the conversations tells; a right answer says that it is not known."
_VERDICT: Final = re.compile(r"\b(yes|no)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a run is done: it goes on only as it began."""

    file: str
    sha256: str
    embedder: str
    answers: str = ""
    judge: str = ""


def plan_of(file: Path, settings: Settings, model: str | None, judge: str | None) -> Plan:
    """Return how to ask a file's questions: with these models, or with those of the settings."""
    if model == NO_MODEL:
        answers = ""
    else:
        answers = chat_model_name(settings) if model is None else checked_model_name(model)
    return Plan(
        file=file.name,
        sha256=sha256(file.read_bytes()).hexdigest(),
        embedder=settings.embedder.model,
        answers=answers,
        judge=answers if judge is None or not answers else checked_model_name(judge),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one question; `right` is None if nobody judged it, or not with yes or no."""

    id: str
    category: str
    question: str
    expected: str
    ranking: tuple[str, ...]
    gold: tuple[str, ...]
    answer: str = ""
    right: bool | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Shares of some questions: with some and all of the evidence in five and ten, and right."""

    questions: int
    some_in_5: float | None
    all_in_5: float | None
    some_in_10: float | None
    all_in_10: float | None
    right: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """A whole run. `cost` is in US dollars; None where a price is not known."""

    plan: Plan
    overall: Figures
    categories: Mapping[str, Figures] = field(hash=False)
    undecided: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    results: str


class Results:
    """The outcomes of a run in a file, one a line behind that of the plan."""

    def __init__(self, path: Path, plan: Plan) -> None:
        self.path = path
        self.plan = plan
        self.outcomes: dict[str, Outcome] = {}
        if path.exists():
            self._take_up()
        else:
            self._append(asdict(plan))

    def add(self, outcome: Outcome) -> None:
        """Keep an outcome."""
        self._append(asdict(outcome))
        self.outcomes[outcome.id] = outcome

    def _take_up(self) -> None:
        written = self.path.read_bytes()
        # A line that was cut short is asked again.
        whole = written[: written.rfind(b"\n") + 1]
        first, *lines = whole.splitlines() or [b""]
        try:
            begun = Plan(**json.loads(first))
            outcomes = [Outcome(**json.loads(line)) for line in lines]
        except (ValueError, TypeError):
            raise Conflict(
                f"{self.path} does not hold the results of an evaluation; nothing was changed",
                code="other_results",
                hint="Name another file with --results.",
            ) from None
        if begun != self.plan:
            raise Conflict(
                f"{self.path} holds the results of another run: {_described(begun)}",
                code="other_results",
                hint="Name another file with --results, or delete this one.",
            )
        if len(whole) < len(written):
            with self.path.open("rb+") as file:
                file.truncate(len(whole))
        self.outcomes = {
            it.id: replace(it, ranking=tuple(it.ranking), gold=tuple(it.gold)) for it in outcomes
        }

    def _append(self, line: Mapping[str, object]) -> None:
        with open_new(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


async def evaluate(
    samples: Sequence[Talks], settings: Settings, results: Results, step: Callable[[int, int], None]
) -> Evaluated:
    """Ask what has no outcome yet; each sample has a memory of its own, which is thrown away."""
    total = sum(len(it.talks.queries) for it in samples)
    embedder = await asyncio.to_thread(wanted_embedder, settings)
    async with AsyncExitStack() as stack:
        cached = None
        if embedder is not None:
            stack.push_async_callback(embedder.close)
            cached = stack.enter_context(DiskCachedEmbedder(embedder))
        models = {
            name: await stack.enter_async_context(chat_model(settings, name))
            for name in {results.plan.answers, results.plan.judge} - {""}
        }
        step(len(results.outcomes), total)
        for sample in samples:
            open_queries = tuple(it for it in sample.talks.queries if it.id not in results.outcomes)
            if not open_queries:
                continue
            async with thrown_away(settings, cached) as memory:
                recalling = _Recalling(replace(sample.talks, queries=open_queries), memory)
                await recalling.run()
            seconds = settings.models.seconds.reasoning
            asking = _Asking(results.plan, models, seconds)
            try:
                await _in_turn(recalling, sample.expected, asking, results, step, total)
            except ModelError as problem:
                raise _stopped(problem, results, total) from None
    return told(results)


async def _in_turn(
    recalling: _Recalling,
    expected: Mapping[str, Expected],
    asking: _Asking,
    results: Results,
    step: Callable[[int, int], None],
    total: int,
) -> None:
    """Ask the models several questions at a time; the first that fails ends it after the others."""
    free = asyncio.Semaphore(_AT_ONCE)
    problems: list[ModelError] = []

    async def ask(query: SetQuery, judged: Judged, hits: Sequence[Hit]) -> None:
        async with free:
            if problems:
                return
            try:
                outcome = await asking.outcome(query, expected[query.id], judged, hits)
            except ModelError as problem:
                problems.append(problem)
                return
            results.add(outcome)
            step(len(results.outcomes), total)

    await asyncio.gather(*(ask(*it) for it in recalling.found))
    if problems:
        raise problems[0]


class _Recalling(Replay):
    """A replay that keeps what was found."""

    def __init__(self, talks: RecallSet, memory: Memory) -> None:
        super().__init__(talks, memory, lambda _: None, lambda _: None)
        self.found: list[tuple[SetQuery, Judged, Sequence[Hit]]] = []

    def _judged(self, query: SetQuery, recalled: Recalled) -> Judged:
        judged = super()._judged(query, recalled)
        self.found.append((query, judged, recalled.hits))
        # Its own means are not wanted, and some questions here have no evidence.
        return replace(judged, gold=judged.gold or frozenset({""}))


@dataclass(frozen=True, slots=True)
class _Asking:
    """Which models are asked, if any."""

    plan: Plan
    models: Mapping[str, ChatModel]
    seconds: float

    async def outcome(
        self, query: SetQuery, expected: Expected, judged: Judged, hits: Sequence[Hit]
    ) -> Outcome:
        """Have a question answered from the hits, and the answer judged."""
        outcome = Outcome(
            id=query.id,
            category=query.category,
            question=query.query,
            expected=expected.answer,
            ranking=judged.ranking,
            gold=tuple(sorted(judged.gold)),
        )
        if not self.plan.answers:
            return outcome
        answered = await self._reply(
            self.plan.answers, _ANSWER_TOKENS, ("system", _ANSWERING), ("user", _asked(query, hits))
        )
        question = _JUDGING.format(
            more=_MORE.get(expected.kind, "") if expected.can_be_answered else _NOT_KNOWN,
            question=query.query,
            expected=expected.answer if expected.can_be_answered else "It is not known.",
            given=answered.text.strip(),
        )
        judgement = await self._reply(self.plan.judge, _VERDICT_TOKENS, ("user", question))
        verdict = _VERDICT.search(judgement.text)
        known = answered.cost is not None and judgement.cost is not None
        return replace(
            outcome,
            answer=answered.text.strip(),
            right=None if verdict is None else verdict[1].casefold() == "yes",
            input_tokens=answered.input_tokens + judgement.input_tokens,
            output_tokens=answered.output_tokens + judgement.output_tokens,
            cost=(answered.cost or 0) + (judgement.cost or 0) if known else None,
        )

    async def _reply(self, model: str, max_tokens: int, *said: tuple[Role, str]) -> Reply:
        messages = [Message(role=role, parts=(TextPart(text=text),)) for role, text in said]
        return await self.models[model].reply(messages, max_tokens=max_tokens, seconds=self.seconds)


def _asked(query: SetQuery, hits: Sequence[Hit]) -> str:
    """Return a question behind what was found for it, as an agent would be told it."""
    lines = [
        f"- [{turn.at:%Y-%m-%d}] {turn.speaker or turn.role}: {turn.content}"
        for turn in (hit.turn for hit in hits)
        if turn is not None
    ]
    today = f"Today is {query.time}.\n" if query.time else ""
    return "Memories:\n" + ("\n".join(lines) or "none") + f"\n\n{today}Question: {query.query}"


def told(results: Results) -> Evaluated:
    """Return the figures of the outcomes so far."""
    outcomes = list(results.outcomes.values())
    categories = sorted({it.category for it in outcomes})
    is_judged = bool(results.plan.answers)
    is_priced = is_judged and all(it.cost is not None for it in outcomes)
    return Evaluated(
        plan=results.plan,
        overall=_figures(outcomes, is_judged=is_judged),
        categories={
            name: _figures((it for it in outcomes if it.category == name), is_judged=is_judged)
            for name in categories
        },
        undecided=sum(is_judged and it.right is None for it in outcomes),
        input_tokens=sum(it.input_tokens for it in outcomes),
        output_tokens=sum(it.output_tokens for it in outcomes),
        cost=sum(it.cost or 0 for it in outcomes) if is_priced else None,
        results=str(results.path),
    )


def _figures(outcomes: Iterable[Outcome], *, is_judged: bool) -> Figures:
    some = list(outcomes)
    # What has no evidence cannot be found.
    sought = [(it.ranking, frozenset(it.gold)) for it in some if it.gold]
    return Figures(
        questions=len(some),
        some_in_5=_mean([hit(ranking, gold, 5) for ranking, gold in sought]),
        all_in_5=_mean([found_all(ranking, gold, 5) for ranking, gold in sought]),
        some_in_10=_mean([hit(ranking, gold, 10) for ranking, gold in sought]),
        all_in_10=_mean([found_all(ranking, gold, 10) for ranking, gold in sought]),
        # A verdict that was neither yes nor no is none that counts for us.
        right=_mean([float(it.right is True) for it in some]) if is_judged else None,
    )


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None


def _stopped(problem: ModelError, results: Results, total: int) -> ModelError:
    done = f"{len(results.outcomes)} of {total} questions are done and kept in {results.path}"
    return ModelError(
        f"{problem.message}. {done}",
        code=problem.code,
        hint=f"{problem.hint} The same command goes on from there.".strip(),
    )


def _described(plan: Plan) -> str:
    return ", ".join(f"{name} {it or 'none'}" for name, it in cast("Any", asdict(plan)).items())
