"""Train the heads that read facets: `python -m training.facets.train SHIPPED [--folds 5]`.

Softmax regressions on the vectors of the shipped embedder and the mean of its word rows: which
attribute a statement states or a question asks for, and whom it is about. They learn from written
statements and questions, and need no torch. The temperature and the thresholds are chosen on
held-out folds; then the heads are trained on everything, rounded to 8 bits, and written to
SHIPPED/facets.npz. The figures of the card are printed.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recollect.models.facet_head import WordMeans
from recollect.models.local_model import FACETS, local_model
from recollect.models.sealed_folder import SEAL, sha256

Array = NDArray[np.float32]

_DATA = Path(__file__).parent / "data"
_LANGUAGES = ("en", "zh")
_ABOUTS = ("user", "other", "thing")
# States nothing that is remembered.
_CHATTER = "chatter"
# Of what is named, at least this part is right on held-out folds.
_PRECISION = {"facets": 0.85, "abouts": 0.95}
# How much the vector and the words weigh.
_SCALES = (6.0, 3.0)
_L2, _STEPS = 3e-4, 150
# How a model that keeps notes words what a user said of themselves.
_AS_NOTE = {
    "en": (
        (r"\bI'm\b", "the user is"),
        (r"\bI've\b", "the user has"),
        (r"\bI'd\b", "the user would"),
        (r"\bI\b", "the user"),
        (r"\bmy\b", "the user's"),
        (r"\bMy\b", "The user's"),
        (r"\b(?:me|myself)\b", "the user"),
    ),
    "zh": ((r"我们?", "用户"),),
}
# How people note something of themselves: "Allergic to peanuts", 不吃猪肉.
_AS_BARE = {
    "en": ((r"^(?:I'm|I am|I've|I) +", ""),),
    "zh": ((r"^我们?", ""),),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A written statement or question, or a rewording of one."""

    text: str
    facet: str
    about: str
    is_question: bool
    language: str
    group: int
    is_written: bool = True


def examples() -> list[Example]:
    """Return what was written, each followed by its rewordings as notes where it has some."""
    found: list[Example] = []
    for language in _LANGUAGES:
        files = (_DATA / f"{language}.jsonl", _DATA / f"more_{language}.jsonl")
        lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
        for number, line in enumerate(lines):
            row = json.loads(line)
            written = Example(
                text=row["t"],
                facet="" if row["f"] == _CHATTER else row["f"],
                about=row["who"],
                is_question=row["k"] == "q",
                language=language,
                group=number,
            )
            found.append(written)
            if written.about == "user" and not written.is_question:
                noted = (_reworded(written.text, rules[language]) for rules in (_AS_NOTE, _AS_BARE))
                others = [text for text in noted if text != written.text]
                found += [replace(written, text=text, is_written=False) for text in others]
    return found


def _reworded(text: str, rules: Sequence[tuple[str, str]]) -> str:
    for pattern, words in rules:
        text = re.sub(pattern, words, text)
    return text[:1].upper() + text[1:]


def fit(read: Array, classes: NDArray[np.int64], count: int) -> tuple[Array, Array]:
    """Return the weights and the bias of a softmax regression, by accelerated descent."""
    scale = np.repeat(np.float32(_SCALES), read.shape[1] // len(_SCALES))
    given = read * scale
    rows, size = given.shape
    wanted = np.eye(count, dtype=np.float32)[classes]
    steepest = float(np.linalg.eigvalsh(given.T @ given)[-1])
    rate = np.float32(1 / (0.5 * steepest / rows + 0.5 + _L2))
    weights, bias = np.zeros((size, count), np.float32), np.zeros(count, np.float32)
    before, momentum = (weights, bias), 1.0
    for _ in range(_STEPS):
        later = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        ahead = np.float32((momentum - 1) / later)
        momentum = later
        at = (
            weights + ahead * (weights - before[0]),
            bias + ahead * (bias - before[1]),
        )
        error = (softmax(given @ at[0] + at[1]) - wanted) / rows
        before = weights, bias
        weights = at[0] - rate * (given.T @ error + np.float32(_L2) * at[0])
        bias = at[1] - rate * error.sum(axis=0)
    return weights * scale[:, None], bias


def softmax(scores: Array) -> Array:
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def folds_of(given: Sequence[Example], count: int) -> NDArray[np.int64]:
    """Return the fold of each; the lines of one facet and form are spread evenly."""
    fold: dict[int, int] = {}
    seen: dict[tuple[str, bool], int] = {}
    by_group = {it.group: (it.facet, it.is_question) for it in given}
    order = np.random.default_rng(0).permutation(sorted(by_group))
    for group in order.tolist():
        kind = by_group[group]
        fold[group] = seen[kind] = (seen.get(kind, -1) + 1) % count
    return np.array([fold[it.group] for it in given])


def held_out(
    read: Array, classes: NDArray[np.int64], count: int, folds: NDArray[np.int64]
) -> Array:
    """Return the scores of each, from heads that were trained without its fold."""
    scores = np.zeros((len(classes), count), np.float32)
    for fold in range(int(folds.max()) + 1):
        weights, bias = fit(read[folds != fold], classes[folds != fold], count)
        scores[folds == fold] = read[folds == fold] @ weights + bias
    return scores


def temperature_of(scores: Array, classes: NDArray[np.int64]) -> float:
    """Return the temperature with which the probabilities fit best."""

    def loss(temperature: float) -> float:
        shares = softmax(scores / np.float32(temperature))[np.arange(len(classes)), classes]
        return float(-np.log(shares + 1e-9).mean())

    return min((it / 20 for it in range(4, 41)), key=loss)


def threshold_of(shares: Array, classes: NDArray[np.int64], precision: float) -> float:
    """Return the least probability from which on enough of what is named is right."""
    best, is_right = shares.max(axis=1), shares.argmax(axis=1) == classes
    for threshold in np.arange(0.1, 0.96, 0.01):
        named = best >= threshold
        if named.any() and is_right[named].mean() >= precision:
            return float(round(threshold, 2))
    return 1.0


def rounded(weights: Array) -> tuple[NDArray[np.int8], Array]:
    """Return weights in 8 bits, and what one step of each class is worth."""
    scales = (np.abs(weights).max(axis=0) / 127).astype(np.float32)
    return np.round(weights / scales).astype(np.int8), scales


async def read_by(folder: Path, texts: Sequence[str]) -> Array:
    """Return what the heads read of each text: its vector, and the mean of its word rows."""
    model = local_model(folder)
    vectors = np.asarray(await model.open().embed(texts, "passage"), np.float32)
    return np.hstack([vectors, WordMeans(model.shared()).of(texts)])


def report(name: str, shares: Array, classes: NDArray[np.int64], given: Sequence[Example]) -> None:
    """Print how often the most likely class is right, and one of the three most likely."""
    order = np.argsort(-shares, axis=1)
    first = order[:, 0] == classes
    among = (order[:, :3] == classes[:, None]).any(axis=1)
    for language in _LANGUAGES:
        for is_question in (False, True):
            mine = np.array(
                [
                    it.is_written and (it.language, it.is_question) == (language, is_question)
                    for it in given
                ]
            )
            kind = "questions" if is_question else "statements"
            print(f"{name} {language} {kind}: {first[mine].mean():.3f} / {among[mine].mean():.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shipped", type=Path)
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_args()
    given = examples()
    read = asyncio.run(read_by(options.shipped, [it.text for it in given]))
    folds = folds_of(given, options.folds)
    names = {
        "facets": tuple(dict.fromkeys(it.facet for it in given)),
        "abouts": _ABOUTS,
    }
    told = {"facets": [it.facet for it in given], "abouts": [it.about for it in given]}
    is_written = np.array([it.is_written for it in given])
    arrays: dict[str, NDArray[np.generic]] = {}
    for head, known in names.items():
        classes = np.array([known.index(it) for it in told[head]])
        scores = held_out(read, classes, len(known), folds)
        temperature = temperature_of(scores[is_written], classes[is_written])
        shares = softmax(scores / np.float32(temperature))
        report(head, shares, classes, given)
        threshold = threshold_of(shares[is_written], classes[is_written], _PRECISION[head])
        named = shares.max(axis=1) >= threshold
        for language in _LANGUAGES:
            mine = is_written & np.array([it.language == language for it in given])
            right = (shares.argmax(axis=1) == classes)[mine & named].mean()
            part = named[mine].mean()
            print(f"{head} {language}: {part:.3f} named at {threshold}, {right:.3f} of them right")
        print(f"{head}: temperature {temperature}")
        weights, bias = fit(read, classes, len(known))
        steps, scales = rounded(weights / np.float32(temperature))
        arrays |= {
            f"{head}.names": np.array(known),
            f"{head}.weights": steps,
            f"{head}.scales": scales,
            f"{head}.bias": (bias / np.float32(temperature)).astype(np.float32),
            f"{head}.threshold": np.float32(threshold),
        }
    written = io.BytesIO()
    np.savez(written, **arrays)
    (options.shipped / FACETS).write_bytes(written.getvalue())
    seal = json.loads((options.shipped / SEAL).read_bytes())
    seal[FACETS] = sha256(written.getvalue())
    (options.shipped / SEAL).write_text(json.dumps(seal, indent=1, sort_keys=True) + "\n", "utf-8")
    print(f"{FACETS}: {len(written.getvalue()):,} bytes")


if __name__ == "__main__":
    main()
