"""The judge that is shipped, on pairs that were written by hand and never trained on."""

from collections import defaultdict

from recollect.models.local_model import open_judge
from training.judge.own import DATA, read_lines

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
