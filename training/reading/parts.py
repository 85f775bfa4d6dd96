"""What a part of a message is, and what a message needs: what the network learns, and how well.

WORK holds what `training.extract.rows` wrote. A part is read with what stands before it: is it
worth keeping, for how long, how is it meant, whom is it about, and what does it ask of memory? A
message is read with what the assistant said before: could memory change a good answer?
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from training.reading.network import (
    PairNetwork,
    Pairs,
    Task,
    Tokens,
    agreement,
    half_precision,
    read_scores,
)

WORTH = ("not", "days", "weeks", "long")
STANCES = ("told", "asked", "requested", "supposed", "quoted", "denied", "chatter", "task")
ABOUT = ("user", "other", "thing")
TOLD = [STANCES.index(it) for it in ("told", "denied")]
WISHES = ("none", "standing", "remember", "forget")
HEADS = ("worth", "stance", "about", "wish")
UNSURE = 0.4
PRECISION = 0.88
ALONE = 0.3
STANCE_SHARE = 0.5
ABOUT_SHARE = 0.25
WISH_SHARE = 0.5

Row = dict[str, Any]


def read_rows(work: Path, kind: str, held: str) -> list[Row]:
    """Return the rows of "parts" or "messages" that are to "train", "choose" or "measure"."""
    lines = (work / f"extract_{kind}.jsonl").read_text("utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["held"] == held]


class Parts(Task):
    """Parts of messages, at times without what stands before them."""

    name = "parts"

    def __init__(
        self, tokens: Tokens, rows: Sequence[Row], share: float, size: int, seed: int, device: str
    ) -> None:
        self.share = share
        texts = [(row["before"], row["text"]) for row in rows]
        zeros = [0] * len(rows)
        self.pairs = Pairs(tokens, texts, zeros, None, device)
        self.alone = Pairs(tokens, [("", text) for _, text in texts], zeros, None, device)

        def numbers(name: str, names: Sequence[str]) -> Tensor:
            found = [names.index(row[name]) if row[name] in names else -1 for row in rows]
            return torch.tensor(found, device=device)

        self.worth, self.stance = numbers("worth", WORTH), numbers("stance", STANCES)
        self.about, self.wish = numbers("about", ABOUT), numbers("wish", WISHES)
        # Wishes are rare.
        counts = torch.bincount(self.wish[self.wish >= 0], minlength=len(WISHES)).clamp(min=1)
        self.wish_weights = (counts.sum() / counts).sqrt()
        # Of a mere statement it is known that it says something, not for how long.
        self.is_told = torch.tensor([row["worth"] == "some" for row in rows], device=device)
        self.weight = torch.tensor([1.0 if row["sure"] else UNSURE for row in rows], device=device)
        self.draw = np.random.default_rng(seed)
        self.chosen = self.pairs.batches(size, seed)

    def loss(self, network: PairNetwork) -> Tensor:
        chosen = next(self.chosen)
        at = torch.as_tensor(chosen, device=self.pairs.device)
        pairs = self.alone if self.draw.random() < ALONE else self.pairs
        inputs = pairs.batch(chosen)
        with half_precision(pairs.device):
            first = network(HEADS, *inputs)
            second = network(HEADS, *inputs)
        loss = 0.5 * (self._loss(first, at) + self._loss(second, at))
        return loss + 0.5 * agreement(first[0].log_softmax(-1), second[0].log_softmax(-1))

    def _loss(self, scores: Sequence[Tensor], at: Tensor) -> Tensor:
        worth, stance, about, wish = scores
        wanted, logs = self.worth[at], worth.log_softmax(-1)
        some = torch.logsumexp(logs[:, 1:], -1)
        exact = logs.gather(1, wanted.clamp(min=0)[:, None])[:, 0]
        own = torch.where(self.is_told[at], some, torch.where(wanted < 0, 0.0, exact))
        loss = -(own * self.weight[at]).mean()
        for share, head, labels, weights in (
            (STANCE_SHARE, stance, self.stance[at], None),
            (ABOUT_SHARE, about, self.about[at], None),
            (WISH_SHARE, wish, self.wish[at], self.wish_weights),
        ):
            said = F.cross_entropy(head, labels, weights, ignore_index=-1, label_smoothing=0.05)
            loss = loss + share * torch.nan_to_num(said)
        return loss


class Messages(Task):
    """Messages, and whether their answer needs memory."""

    name = "needs"

    def __init__(
        self, tokens: Tokens, rows: Sequence[Row], share: float, size: int, seed: int, device: str
    ) -> None:
        self.share = share
        self.pairs = message_pairs(tokens, rows, device)
        self.chosen = self.pairs.batches(size, seed)

    def loss(self, network: PairNetwork) -> Tensor:
        chosen = next(self.chosen)
        labels = self.pairs.labels[torch.as_tensor(chosen, device=self.pairs.device)]
        inputs = self.pairs.batch(chosen)
        with half_precision(self.pairs.device):
            (first,) = network(["needs"], *inputs)
            (second,) = network(["needs"], *inputs)
        loss = F.cross_entropy(first, labels, label_smoothing=0.05)
        loss = 0.5 * (loss + F.cross_entropy(second, labels, label_smoothing=0.05))
        return loss + 0.5 * agreement(first.log_softmax(-1), second.log_softmax(-1))


def message_pairs(tokens: Tokens, rows: Sequence[Row], device: str) -> Pairs:
    texts = [(row["before"], row["text"]) for row in rows]
    labels = [int(row["needs"]) for row in rows]
    return Pairs(tokens, texts, labels, None, device, is_message=True)


def kept_odds(worth: NDArray[np.float32], stance: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return how sure it is that each part is told and worth keeping, as log odds."""
    kept = np.logaddexp.reduce(worth[:, 1:], axis=1) - np.logaddexp.reduce(worth, axis=1)
    meant = np.logaddexp.reduce(stance[:, TOLD], axis=1) - np.logaddexp.reduce(stance, axis=1)
    both = np.minimum(kept + meant, -np.finfo(np.float32).eps)
    return both - np.log(-np.expm1(both))


def limit_at(
    scores: NDArray[np.float32], wanted: NDArray[np.bool_], precision: float = PRECISION
) -> float:
    """Return the lowest score from which so many of the parts are rightly kept."""
    order = np.argsort(-scores)
    right = np.cumsum(wanted[order]) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero(right >= precision)
    return float(scores[order][enough[-1]]) if len(enough) else float(scores.max())


def rates(said: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> dict[str, float]:
    """Return recall and precision of what is said to be worth keeping."""
    right = float((said & wanted).sum())
    return {
        "recall": round(right / max(1, int(wanted.sum())), 3),
        "precision": round(right / max(1, int(said.sum())), 3),
    }


def report(network: PairNetwork, tokens: Tokens, work: Path, device: str) -> dict[str, Any]:
    """Choose the limits on some talks, and measure all heads on others."""
    found: dict[str, Any] = {}
    limit, need = 0.0, 0.0
    for held in ("choose", "measure"):
        rows = [row for row in read_rows(work, "parts", held) if row["talk"].startswith("talks")]
        parts = Parts(tokens, rows, 1.0, 1, 0, device)
        worth, stance, about, wish = read_scores(network, parts.pairs, *HEADS)
        odds = kept_odds(worth, stance)
        sure = np.array([row["sure"] for row in rows])
        kept = np.array([row["worth"] != "not" for row in rows])
        if held == "choose":
            limit = limit_at(odds[sure], kept[sure])
        right = {
            name: _right(table, getattr(parts, name).cpu().numpy())
            for name, table in (("stance", stance), ("about", about))
        }
        lasts = _right(worth[:, 1:], np.where(kept, parts.worth.cpu().numpy() - 1, -1))
        messages = read_rows(work, "messages", held)
        (needs,) = read_scores(network, message_pairs(tokens, messages, device), "needs")
        wanted = np.array([bool(row["needs"]) for row in messages])
        margin = needs[:, 1] - needs[:, 0]
        if held == "choose":
            need = max(
                np.arange(-2, 2, 0.1), key=lambda it: float(((margin > it) == wanted).mean())
            )
        found[held] = {
            "worth": rates(odds[sure] > limit, kept[sure]),
            "lasts": lasts,
            "wishes": _wishes(wish, parts.wish.cpu().numpy()),
            "needs": round(float(((margin > need) == wanted).mean()), 3),
            "needs, of all": [len(wanted), int(wanted.sum())],
            **right,
        }
    return {"limit": limit, "need": float(need), **found}


def _wishes(scores: NDArray[np.float32], labels: NDArray[np.int64]) -> dict[str, dict[str, float]]:
    known = labels >= 0
    said, wanted = scores[known].argmax(1), labels[known]
    return {
        name: rates(said == number, wanted == number)
        for number, name in enumerate(WISHES)
        if number
    }


def _right(scores: NDArray[np.float32], labels: NDArray[np.int64]) -> float:
    known = labels >= 0
    return round(float((scores[known].argmax(1) == labels[known]).mean()), 3)
