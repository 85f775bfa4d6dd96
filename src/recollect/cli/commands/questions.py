"""`recollect eval`: are questions of one's own, or those of public benchmarks, answered?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from recollect.cli import show
from recollect.cli.answer import Answer, bar
from recollect.cli.command import opened
from recollect.cli.options import Shared, argument, option
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.evaluation.answering import Evaluated
    from recollect.evaluation.questions import OwnQuestions
    from recollect.memory import Memory
    from recollect.settings import Settings

_TOO_FEW = 1
_LONGEST = 100


async def evaluate(
    shared: Shared,
    file: Annotated[
        Path, argument("Questions of your own, LoCoMo, or LongMemEval.", metavar="FILE")
    ],
    limit: Annotated[
        int | None, option("Hits to look at, for your own questions; default: 5.", min=1, max=100)
    ] = None,
    at_least: Annotated[
        float | None,
        option("Exit with 1 if a smaller share of your own is answered.", min=0, max=1),
    ] = None,
    questions: Annotated[
        int | None, option("Ask only the first of LoCoMo or LongMemEval.", min=1, metavar="NUMBER")
    ] = None,
    model: Annotated[
        str | None,
        option(
            "provider:model that answers LoCoMo or LongMemEval, or none; "
            "default: from the settings.",
            metavar="NAME",
        ),
    ] = None,
    judge: Annotated[
        str | None,
        option("provider:model that judges the answers; default: the same.", metavar="NAME"),
    ] = None,
    results: Annotated[
        Path | None,
        option("Where each answer is kept; default: beside FILE, *.results.jsonl.", metavar="FILE"),
    ] = None,
) -> Answer:
    """Ask the questions of FILE and tell how often they are answered.

    Each line is {"ask": "Where does Ann live?", "want": ["Basel"]}: a hit is right when it contains
    one of the texts. "ids" names records instead, and "nothing": true says that nothing is to be
    found; "group" counts questions apart. Nothing in memory is changed.

    locomo10.json and the files of LongMemEval are taken as they are published: their conversations
    go into a memory that is thrown away. Your model answers from ten hits and a second call judges
    the answer; without a model, it is told how often the evidence is found. A run that was stopped
    goes on where it was.
    """
    from recollect.evaluation.originals import is_original

    if is_original(file):
        _only_without("LoCoMo and LongMemEval take no", limit=limit, at_least=at_least)
        return await _published(shared.settings(), file, questions, (model, judge), results)
    _only_without(
        "Questions of your own take no",
        questions=questions,
        model=model,
        judge=judge,
        results=results,
    )
    async with opened(shared) as memory:
        return await _own(memory, file, limit or 5, at_least)


def _only_without(told: str, **given: object) -> None:
    names = [f"--{name.replace('_', '-')}" for name, it in given.items() if it is not None]
    if names:
        raise InvalidInput(
            f"{told} {', '.join(names)}", code="bad_usage", hint="See `recollect eval --help`."
        )


async def _own(memory: Memory, file: Path, limit: int, at_least: float | None) -> Answer:
    from recollect.evaluation.questions import ask_all, read_questions

    questions = read_questions(file)
    with bar("Asking") as progress:
        told = await ask_all(memory, questions, limit=limit, step=progress)
    right = 1 - len(told.missed) / len(questions)
    return Answer.of(told, _tell, _TOO_FEW if at_least is not None and right < at_least else 0)


# --- LoCoMo and LongMemEval -----------------------------------------------------------------------


async def _published(
    settings: Settings,
    file: Path,
    questions: int | None,
    models: tuple[str | None, str | None],
    place: Path | None,
) -> Answer:
    from recollect.evaluation.answering import Results, evaluate, plan_of
    from recollect.evaluation.originals import first_questions, read_original

    samples = read_original(file)
    if questions is not None:
        samples = first_questions(samples, questions)
    plan = plan_of(file, settings, *models)
    results = Results(place or file.with_suffix(".results.jsonl"), plan)
    with bar("Asking") as progress:
        told = await evaluate(samples, settings, results, progress)
    return Answer.of(told, _tell_published)


def _tell_published(console: Console, told: Evaluated) -> None:
    from rich import box
    from rich.table import Table

    has_answers = bool(told.plan.answers)
    titles = ("", "n", *(["right"] if has_answers else []), "some in 5", "all in 5")
    table = Table(*titles, "some in 10", "all in 10", box=box.SIMPLE_HEAD, pad_edge=False)
    for name, it in {**told.categories, "all": told.overall}.items():
        shares = (it.some_in_5, it.all_in_5, it.some_in_10, it.all_in_10)
        shown = [*([it.right] if has_answers else []), *shares]
        cells = ("" if share is None else f"{share:.3f}" for share in shown)
        table.add_row(name, str(it.questions), *cells)
    console.print(table)
    show.line(console, "some, all: how often some and all of the evidence is among the hits")
    if has_answers:
        show.line(console, f"answered by {told.plan.answers}, judged by {told.plan.judge}")
        if told.undecided:
            show.line(console, f"judged neither right nor wrong: {told.undecided}")
        cost = "price unknown" if told.cost is None else f"about ${told.cost:.2f}"
        tokens = f"{told.input_tokens:,} tokens in, {told.output_tokens:,} out"
        show.line(console, f"{tokens}, {cost}")
    else:
        show.line(console, "No language model answered: `recollect init` chooses one.")
    show.line(console, f"each question is in {told.results}")


# --- One's own questions --------------------------------------------------------------------------


def _tell(console: Console, told: OwnQuestions) -> None:
    for name, it in {"all": told.overall, **told.groups}.items():
        figures = {
            "first": it.first,
            "in three": it.in_three,
            "found": it.found,
            "silent": it.silent,
        }
        _tell_shares(console, f"{name} ({it.questions})", figures)
    show.line(console, f"recall p50 {told.recall_p50_ms} ms, p95 {told.recall_p95_ms} ms")
    for it in told.missed:
        best = it.best[:_LONGEST] or "nothing"
        show.line(console, f"not answered: {it.question.ask} (found first: {best})")


def _tell_shares(console: Console, name: str, figures: Mapping[str, float | None]) -> None:
    shown = "  ".join(f"{title} {it:.3f}" for title, it in figures.items() if it is not None)
    show.line(console, f"{name}: {shown}")
