"""Whether a text answers a question: what the network learns, and how well it did.

WORK holds what `training.answers.groups` wrote: questions with texts that answer them and texts
that do not.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from training.reading.network import (
    PairNetwork,
    Pairs,
    Task,
    Tokens,
    half_precision,
    read_scores,
)

HEAD = "answer"
TEXTS = 12
MOST_RIGHT = 2
SHARES = {"told": 0.4, "history": 0.35, "contrast": 0.05, "public": 0.2}
"""How often the turn of each kind of groups comes."""
_KINDS = {
    **dict.fromkeys(("scene", "change", "life"), "told"),
    "history": "history",
    "contrast": "contrast",
}
OUTDATED = 0.85
RIGHT_OVER_OLD = 0.2


class Groups:
    """Questions with their texts on the device; a batch has some texts of some questions."""

    def __init__(self, tokens: Tokens, groups: list[dict[str, Any]], device: str) -> None:
        texts = [(it["q"], text) for it in groups for text in (*it["right"], *it["wrong"])]
        labels = [
            int(place < len(it["right"]))
            for it in groups
            for place in range(len(it["right"]) + len(it["wrong"]))
        ]
        self.groups = groups
        self.pairs = Pairs(tokens, texts, labels, None, device)
        sizes = np.array([len(it["right"]) + len(it["wrong"]) for it in groups])
        self.starts = np.cumsum(sizes) - sizes
        self.right = np.array([len(it["right"]) for it in groups])
        self.sizes = sizes
        is_old = np.zeros(len(texts), bool)
        for start, it in zip(self.starts, groups, strict=True):
            is_old[start + np.array(it.get("old", []), np.int64)] = True
        self.is_old = torch.tensor(is_old, device=device)

    def batches(self, size: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the pairs of some questions, and which question each belongs to."""
        draw = np.random.default_rng(seed)
        while True:
            order = draw.permutation(len(self.groups))
            for at in range(0, len(order) - size + 1, size):
                chosen, owners = list[np.ndarray](), list[np.ndarray]()
                for owner, group in enumerate(order[at : at + size]):
                    right = draw.permutation(self.right[group])[:MOST_RIGHT]
                    wrong = draw.permutation(self.sizes[group] - self.right[group])
                    wrong = wrong[: TEXTS - len(right)] + self.right[group]
                    chosen.append(self.starts[group] + np.concatenate([right, wrong]))
                    owners.append(np.full(len(chosen[-1]), owner))
                yield np.concatenate(chosen).astype(np.int64), np.concatenate(owners)


def loss_of(network: PairNetwork, groups: Groups, chosen: np.ndarray, owners: np.ndarray) -> Tensor:
    """Return how far each text is from its label, and the right ones from the top."""
    device = groups.pairs.device
    with half_precision(device):
        scores = network([HEAD], *groups.pairs.batch(chosen))[0][:, 0].float()
    at = torch.as_tensor(chosen, device=device)
    labels, is_old = groups.pairs.labels[at].float(), groups.is_old[at]
    wanted = torch.where(is_old, OUTDATED, 0.96 * labels + 0.02)
    each = F.binary_cross_entropy_with_logits(scores, wanted)
    rows = torch.as_tensor(owners, device=device)
    count = int(owners.max()) + 1
    # Beside its texts every question has the choice that nothing answers it.
    table = torch.full((count, TEXTS + 1), -1e4, device=device)
    is_right = torch.zeros((count, TEXTS + 1), device=device)
    places = torch.as_tensor(_places(owners), device=device)
    table[rows, places] = scores
    is_right[rows, places] = labels
    table[:, TEXTS] = 0.0
    is_right[:, TEXTS] = (is_right.sum(1) == 0).float()
    all_scores = torch.logsumexp(table, 1)
    right_scores = torch.logsumexp(table.masked_fill(is_right == 0, -1e4), 1)
    return (
        each + 0.3 * (all_scores - right_scores).mean() + _above_old(scores, labels, is_old, rows)
    )


def _above_old(scores: Tensor, labels: Tensor, is_old: Tensor, rows: Tensor) -> Tensor:
    """Return how far what answers a question now is from being above what answered it before."""
    new = (labels > 0) & ~is_old
    both = new[:, None] & is_old[None] & (rows[:, None] == rows[None])
    if not both.any():
        return scores.new_zeros(())
    return RIGHT_OVER_OLD * F.softplus(scores[None] - scores[:, None])[both].mean()


def _places(owners: np.ndarray) -> np.ndarray:
    starts = np.searchsorted(owners, owners)
    return np.arange(len(owners)) - starts


def report(network: PairNetwork, groups: Groups) -> dict[str, Any]:
    """Return how often the best text is a right one, and how silence could be told."""
    (table,) = read_scores(network, groups.pairs, HEAD)
    scores = table[:, 0]
    first, best = dict[str, list[bool]](), dict[str, list[float]]()
    for group, start, size, right in zip(
        groups.groups, groups.starts, groups.sizes, groups.right, strict=True
    ):
        if not size:
            continue
        own = scores[start : start + size]
        best.setdefault(group["from"], []).append(float(own.max()))
        if right:
            first.setdefault(group["from"], []).append(bool(own.argmax() < right))
        if group.get("old") and right > len(group["old"]):
            new = np.delete(own[:right], group["old"]).max()
            above = bool(new > own[group["old"]].max())
            first.setdefault(f"{group['from']}: new above old", []).append(above)
    found: dict[str, Any] = {name: round(float(np.mean(it)), 3) for name, it in first.items()}
    for answered, unanswered in (
        ("scene ask", "scene none"),
        ("change", "change none"),
        ("history question", "history none"),
        ("contrast attribute", "contrast none"),
    ):
        if unanswered not in best:
            continue
        yes, no = np.array(best[answered]), np.array(best[unanswered])
        found[f"{answered}: none below asked"] = round(float((yes[:, None] > no[None]).mean()), 3)
        for share in (0.1, 0.2):
            limit = np.quantile(yes, share)
            found[f"{answered}: silent at {1 - share:.0%} answered"] = round(
                float((no < limit).mean()), 3
            )
        found[f"{answered}: logits answered / none"] = [
            [round(float(it), 2) for it in np.quantile(some, (0.1, 0.25, 0.5, 0.75, 0.9))]
            for some in (yes, no)
        ]
    return found


class Answers(Task):
    """Groups of one source, whose right texts are to come first."""

    name = HEAD

    def __init__(self, groups: Groups, share: float, size: int, seed: int) -> None:
        self.groups, self.share = groups, share
        self.chosen = groups.batches(size, seed)

    def loss(self, network: PairNetwork) -> Tensor:
        return loss_of(network, self.groups, *next(self.chosen))


def read_groups(work: Path, tokens: Tokens, device: str) -> dict[str, Groups]:
    """Return the groups to train with by the kind of their source."""
    with lzma.open(work / "answers_train.jsonl.xz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_kind.setdefault(_KINDS.get(row["from"].split()[0], "public"), []).append(row)
    return {kind: Groups(tokens, some, device) for kind, some in by_kind.items()}


def read_held(work: Path, tokens: Tokens, device: str) -> Groups:
    """Return the groups that are held back."""
    held = (work / "answers_dev.jsonl").read_text("utf-8").splitlines()
    return Groups(tokens, [json.loads(line) for line in held], device)
