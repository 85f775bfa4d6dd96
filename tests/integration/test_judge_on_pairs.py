"""The judge that is shipped, on pairs that were written by hand and never trained on."""

import json
import random
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.models.facet_head import open_facets
from recollect.models.local_model import LocalModel, open_judge
from recollect.ports.judge import Statement
from recollect.writing.judges import ThresholdJudge
from training.judge.look_alikes import pairs_of_look_alikes
from training.judge.own import DATA, read_lines

_PAIRS = Path(__file__).parents[1] / "data" / "judge_pairs.jsonl"
_LABELS = ("same", "update", "conflict", "different")
# Of all 1,479 pairs .817 .925 .735 .931 are right; every sixth is read here.
_EXPECTED = {"same": 0.8, "update": 0.85, "conflict": 0.6, "different": 0.9}


def test_most_pairs_are_judged_rightly():
    judge = open_judge(None)
    assert judge is not None
    pairs = [it for it in read_lines(DATA, "pairs_dev") if not it.get("auto")][::6]
    pairs.sort(key=lambda it: len(it["old"] + it["new"]))
    right = defaultdict[str, list[bool]](list)
    for at in range(0, len(pairs), 16):
        batch = pairs[at : at + 16]
        scores = judge.logits([(it["old"], it["new"]) for it in batch])
        for pair, best in zip(batch, scores.argmax(axis=1), strict=True):
            right[pair["label"]].append(_LABELS[best] == pair["label"])
    share = {label: sum(right[label]) / len(right[label]) for label in _LABELS}
    assert all(share[label] >= least for label, least in _EXPECTED.items()), share


async def _linked(pairs: Sequence[tuple[str, str]]) -> int:
    """How many of the pairs, the older statement first, are taken for a change."""
    classifier = open_judge(None)
    assert classifier is not None
    judge = ThresholdJudge(classifier, facets=open_facets(None, LocalModel().open()))
    linked = 0
    for texts in pairs:
        old, new = (
            Statement(text=text, said_at=datetime(2026, 1, day, tzinfo=UTC))
            for day, text in zip((5, 8), texts, strict=True)
        )
        (verdict,) = (await judge.judge(new, [old])).verdicts
        linked += verdict.relation in {"update", "conflict"}
    return linked


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_facts_that_have_nothing_to_do_with_each_other_are_hardly_linked(language: str):
    told = [
        (pair.old, pair.new)
        for pair in pairs_of_look_alikes(DATA, held=True)
        if pair.label != "different" and pair.source.startswith(f"look_alikes_{language}")
    ]
    apart = [(old, new) for old, _ in told for known, new in told if known != old]
    sample = random.Random(7).sample(apart, 100)
    linked = await _linked(sample)
    assert linked <= 3, linked


async def test_few_pairs_that_tell_something_else_are_linked():
    lines = _PAIRS.read_text("utf-8").splitlines()
    apart = [pair for pair in map(json.loads, lines) if pair["label"] == "different"][::2]
    linked = await _linked([(pair["old"], pair["new"]) for pair in apart])
    # Measured: 33 of 268; before an update seen from one side only had to be so likely, 40. They
    # are look-alikes that were chosen because rules took them for changes.
    assert linked <= 36, linked
