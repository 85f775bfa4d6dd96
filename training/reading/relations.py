"""How a new statement relates to an old one: what the network learns, and how well it did.

WORK holds what `training.judge.pairs` wrote. Entailment, paraphrases and translations come first,
then our own pairs, which say same, update, conflict or different.
"""

from __future__ import annotations

import json
import lzma
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
    agreement,
    half_precision,
    log,
    read_scores,
)

LABELS = ("same", "update", "conflict", "different")
SAME, UPDATE, CONFLICT, DIFFERENT = range(4)
SMOOTHING = 0.05
HELD_AUX = 2_000


class Statements(Task):
    """A head that classifies pairs of statements."""

    def __init__(self, head: str, pairs: Pairs, share: float, size: int, seed: int) -> None:
        self.name, self.pairs, self.share = head, pairs, share
        self.chosen = pairs.batches(size, seed)

    def loss(self, network: PairNetwork) -> Tensor:
        rows = next(self.chosen)
        inputs = self.pairs.batch(rows)
        at = torch.as_tensor(rows, device=self.pairs.device)
        labels, weights = self.pairs.labels[at], self.pairs.weights[at]

        def read() -> tuple[Tensor, Tensor]:
            with half_precision(self.pairs.device):
                (scores,) = network([self.name], *inputs)
            loss = F.cross_entropy(scores, labels, reduction="none", label_smoothing=SMOOTHING)
            return scores.log_softmax(-1), (loss * weights).mean()

        first, loss = read()
        if self.name != "relation":
            return loss
        second, again = read()
        return 0.5 * (loss + again) + 0.5 * agreement(first, second)


def probabilities(scores: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    powers = np.exp((scores - scores.max(1, keepdims=True)) / temperature)
    return powers / powers.sum(1, keepdims=True)


def nll(scores: np.ndarray, labels: np.ndarray, temperature: float = 1.0) -> float:
    right = probabilities(scores, temperature)[np.arange(len(labels)), labels]
    return float(-np.log(np.maximum(right, 1e-9)).mean())


def best_temperature(scores: np.ndarray, labels: np.ndarray) -> float:
    tried = [round(float(it), 2) for it in np.arange(0.5, 3.0, 0.01)]
    return min(tried, key=lambda it: nll(scores, labels, it))


def class_accuracy(scores: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    said, found = scores.argmax(1), dict[str, float]()
    for label, name in enumerate(LABELS):
        if (labels == label).any():
            found[name] = round(float((said[labels == label] == label).mean()), 3)
    return found | {"all": round(float((said == labels).mean()), 3), "pairs": len(labels)}


class Dev:
    """The pairs that were held back, read in both directions."""

    def __init__(self, tokens: Tokens, rows: list[dict[str, Any]], device: str) -> None:
        self.rows = rows
        labels = [LABELS.index(row["label"]) for row in rows]
        there = [(row["old"], row["new"]) for row in rows]
        back = [(new, old) for old, new in there]
        self.labels = np.array(labels)
        self.there, self.back = (
            Pairs(tokens, texts, labels, None, device) for texts in (there, back)
        )
        fresh = np.array([row["src"] == "fresh" for row in rows])
        lives = np.array([row["src"] == "lives" for row in rows])
        auto = np.array([bool(row.get("auto")) for row in rows])
        several = np.array([row["src"] == "several" for row in rows])
        alike = np.array([row["src"].startswith("look_alikes") for row in rows])
        languages = np.array([row["lang"] for row in rows])
        self.parts = {
            "hand-written": ~fresh & ~auto & ~lives & ~alike,
            "auto": auto & ~several,
            "several": several,
            "fresh": fresh,
            "lives": lives,
            "look-alikes": alike,
        }
        self.parts |= {
            f"{part} {tongue}": chosen & (languages == tongue)
            for part, chosen in list(self.parts.items())
            for tongue in ("en", "zh", "cross")
        }
        self.parts = {name: chosen for name, chosen in self.parts.items() if chosen.any()}
        # Auto pairs are all alike; they tell nothing about how sure the judge may be.
        self.decisive = ~auto

    def nll(self, scores: np.ndarray, temperature: float = 1.0) -> float:
        return nll(scores[self.decisive], self.labels[self.decisive], temperature)

    def report(self, network: PairNetwork) -> dict[str, Any]:
        """Return accuracy, temperature and thresholds, and print them."""
        (there,) = read_scores(network, self.there, "relation")
        (back,) = read_scores(network, self.back, "relation")
        temperature = best_temperature(there[self.decisive], self.labels[self.decisive])
        accuracy = {
            name: class_accuracy(there[chosen], self.labels[chosen])
            for name, chosen in self.parts.items()
        }
        for name, scores in accuracy.items():
            log(f"   {name:20s}", scores)
        loss = self.nll(there, temperature)
        log(f"   temperature {temperature:.2f}, nll {self.nll(there):.4f} -> {loss:.4f}")
        forward, backward = probabilities(there, temperature), probabilities(back, temperature)
        thresholds = {
            part: self._thresholds(forward, backward, self.parts[part], part)
            for part in ("hand-written", "fresh", "lives", "look-alikes")
            if part in self.parts
        }
        return {
            "accuracy": accuracy,
            "temperature": temperature,
            "nll": loss,
            "thresholds": thresholds,
        }

    def _thresholds(
        self, there: np.ndarray, back: np.ndarray, chosen: np.ndarray, part: str
    ) -> dict[str, list[dict[str, float]]]:
        change = there[:, UPDATE] + there[:, CONFLICT]
        change_back = back[:, UPDATE] + back[:, CONFLICT]
        rules = {
            "replace at p(update)": (there[:, UPDATE], (UPDATE,)),
            "merge at p(same) both ways": (np.minimum(there[:, SAME], back[:, SAME]), (SAME,)),
            "surface at p(update) + p(conflict) both ways": (
                np.minimum(change, change_back),
                (UPDATE, CONFLICT),
            ),
        }
        found = dict[str, list[dict[str, float]]]()
        for name, (sure, wanted) in rules.items():
            right, lines = np.isin(self.labels, wanted), list[dict[str, float]]()
            for threshold in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95):
                taken = chosen & (sure >= threshold)
                lines.append(
                    {
                        "at": threshold,
                        "taken": int(taken.sum()),
                        "right": int((taken & right).sum()),
                        "of": int((chosen & right).sum()),
                        "different hit": int((taken & (self.labels == DIFFERENT)).sum()),
                        "different": int((chosen & (self.labels == DIFFERENT)).sum()),
                    }
                )
            log(f"   {part}: {name}")
            for line in lines:
                log("     ", line)
            found[name] = lines
        return found


def accuracy(network: PairNetwork, held: Pairs, head: str) -> float:
    (scores,) = read_scores(network, held, head)
    return round(float((scores.argmax(1) == held.labels.cpu().numpy()).mean()), 3)


def read_own(work: Path, tokens: Tokens, device: str) -> Pairs:
    with lzma.open(work / "judge_train.jsonl.xz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    texts = [(row["old"], row["new"]) for row in rows]
    labels = [LABELS.index(row["label"]) for row in rows]
    return Pairs(tokens, texts, labels, [float(row["w"]) for row in rows], device)


def read_aux(work: Path, tokens: Tokens, device: str) -> dict[str, tuple[Pairs, Pairs]]:
    """Return the pairs to train on and those to look at, by head."""
    with lzma.open(work / "judge_aux.tsv.xz", "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    found = dict[str, tuple[Pairs, Pairs]]()
    for kind, head in (("n", "nli"), ("p", "para")):
        of_kind = [row for row in rows if row[0] == kind]
        if not of_kind:
            continue
        held = min(HELD_AUX, len(of_kind) // 10)
        learnt, looked_at = (
            Pairs(
                tokens, [(it[1], it[2]) for it in part], [int(it[3]) for it in part], None, device
            )
            for part in (of_kind[held:], of_kind[:held])
        )
        found[head] = learnt, looked_at
    return found
