"""The judge that is shipped, on pairs that were written by hand and never trained on."""

import json
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

from recollect.models.facet_head import open_facets
from recollect.models.local_model import LocalModel, open_judge
from recollect.ports.judge import Statement
from recollect.writing.judges import ThresholdJudge
from training.judge.own import DATA, read_lines

_PAIRS = Path(__file__).parents[1] / "data" / "judge_pairs.jsonl"
_LABELS = ("same", "update", "conflict", "different")
# Of all 1,479 pairs .793 .885 .729 .920 are right; every sixth is read here.
_EXPECTED = {"same": 0.7, "update": 0.8, "conflict": 0.65, "different": 0.88}


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


async def test_few_pairs_that_tell_something_else_are_linked():
    classifier = open_judge(None)
    assert classifier is not None
    judge = ThresholdJudge(classifier, facets=open_facets(None, LocalModel().open()))
    lines = _PAIRS.read_text("utf-8").splitlines()
    apart = [pair for pair in map(json.loads, lines) if pair["label"] == "different"][::2]
    linked = 0
    for pair in apart:
        old, new = (
            Statement(text=pair[side], said_at=datetime(2026, 1, day, tzinfo=UTC))
            for day, side in ((5, "old"), (8, "new"))
        )
        (verdict,) = (await judge.judge(new, [old])).verdicts
        linked += verdict.relation in {"update", "conflict"}
    # Measured: 33 of 268; before an update seen from one side only had to be so likely, 40. They
    # are look-alikes that were chosen because rules took them for changes.
    assert linked <= 36, linked
