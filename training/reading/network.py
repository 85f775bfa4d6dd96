"""The network that reads two texts together, and pairs of texts on the device.

One body serves four ways of reading: how a new statement relates to an old one, whether a text
answers a question, what a part of a message is with what stands before it, and what a message needs
after what the assistant said. Each way has heads of its own; the body knows the way by the kinds
of its tokens.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recollect.domain.facets import facets
from training.network import HIDDEN, Body, RoundedLinear, cosine_decay, half_precision
from training.rounding import read_rows

WAYS: Final = ("relation", "answer", "part", "message")
FACETS: Final = (*facets(), "")
"""The attributes that a part may state; the last one is none of them."""
KINDS: Final = 4
"""Kinds of tokens of a way: 2 * side + (also on the other side)."""
HEADS: Final = {
    "nli": 3,
    "para": 2,
    "relation": 4,
    "answer": 1,
    "worth": 4,
    "stance": 8,
    "about": 3,
    "wish": 4,
    "facet": len(FACETS),
    "needs": 2,
}
WAY_OF: Final = {
    "nli": "relation",
    "para": "relation",
    "relation": "relation",
    "answer": "answer",
    "worth": "part",
    "stance": "part",
    "about": "part",
    "wish": "part",
    "facet": "part",
    "needs": "message",
}
LONGEST_SIDE: Final = 72
_WARM_UP_STEPS: Final = 200
_LOGGED_EVERY: Final = 500
START: Final = time.time()

State = dict[str, Tensor]


def log(*parts: object) -> None:
    print(f"[{time.time() - START:6.1f}]", *parts, flush=True)


class PairNetwork(nn.Module):
    """Reads two texts at once; its heads say what they are to each other."""

    def __init__(self, rows: Tensor) -> None:
        super().__init__()
        self.register_buffer("rows", rows, persistent=False)
        # What is learnt in small steps would otherwise be lost when the weights are rounded.
        self.body = Body(RoundedLinear)
        self.body.dropout = 0.1
        self.kind = nn.Embedding(KINDS * len(WAYS), HIDDEN)
        self.pool = RoundedLinear(4 * HIDDEN, HIDDEN)
        self.heads = nn.ModuleDict({name: nn.Linear(HIDDEN, size) for name, size in HEADS.items()})
        nn.init.zeros_(self.kind.weight)
        for part in (self.pool, *self.heads.values()):
            nn.init.normal_(part.weight, std=0.02)
            nn.init.zeros_(part.bias)

    def forward(
        self, heads: Sequence[str], ids: Tensor, kinds: Tensor, mask: Tensor
    ) -> list[Tensor]:
        """Return the scores of some heads of one way."""
        ways = kinds + KINDS * WAYS.index(WAY_OF[heads[0]])
        states = self.body(F.embedding(ids, self.rows) + self.kind(ways), mask)
        first = self._mean(states, (kinds < 2) & mask)
        second = self._mean(states, (kinds > 1) & mask)
        joined = torch.cat([states[:, 0], first, second, (first - second).abs()], dim=-1)
        # Out of autocast: the last steps are small, and decide.
        with torch.autocast(ids.device.type, enabled=False):
            pooled = torch.tanh(self.pool(joined.float()))
            pooled = F.dropout(pooled, self.body.dropout, self.training)
            return [self.heads[head](pooled) for head in heads]

    @staticmethod
    def _mean(states: Tensor, chosen: Tensor) -> Tensor:
        share = chosen[..., None].float()
        return (states * share).sum(1) / share.sum(1)

    def begin_ways(self) -> None:
        """Start the other ways, and the head of relations, from what entailment knows already."""
        nli, para = self.heads["nli"].weight, self.heads["para"].weight
        same = nli[0] + para[1] - para[0]
        with torch.no_grad():
            start = torch.stack([same, 0.5 * nli[2], nli[2], nli[1]])
            self.heads["relation"].weight.copy_(0.5 * start)
            self.kind.weight.copy_(self.kind.weight[:KINDS].repeat(len(WAYS), 1))

    def load(self, weights: Mapping[str, np.ndarray]) -> None:
        """Go on from a shipped graph; heads that it lacks begin at zero, the same for all seeds."""
        types = np.zeros((1, HIDDEN), np.float32)
        self.body.load({"embeddings.token_type_embeddings.weight": types, **weights})
        parts: dict[str, nn.Module] = {"pool": self.pool, **self.heads}
        with torch.no_grad():
            self.kind.weight.copy_(torch.tensor(weights["kind.weight"]))
            for name, part in parts.items():
                for kind, it in part.named_parameters():
                    found = weights.get(f"{name}.{kind}")
                    it.copy_(torch.zeros_like(it) if found is None else torch.tensor(found))

    def state(self) -> State:
        return {name: it.detach().clone() for name, it in self.named_parameters()}

    def put(self, state: State) -> None:
        with torch.no_grad():
            for name, it in self.named_parameters():
                it.copy_(state[name])


def build(student: Path | None, exported: Path | None, size: int, device: str) -> PairNetwork:
    """Return a network that begins as the student, or at random where no weights are given."""
    if student is None or exported is None:
        rows = np.random.default_rng(0).normal(0, 0.05, (size, HIDDEN)).astype(np.float32)
        return PairNetwork(torch.tensor(rows)).to(device)
    from safetensors.numpy import load_file

    # The very rows that are shipped.
    rows = read_rows(exported)
    if len(rows) < size:
        raise SystemExit(
            f"the student has {len(rows)} word rows, the tokenizer needs {size}: "
            "take the tokenizer.json that the student was trained with"
        )
    network = PairNetwork(torch.tensor(rows))
    weights = load_file(student / "layers-0.safetensors")
    weights |= load_file(student / "layers-1.safetensors")
    # The saved positions have the type added already.
    weights["embeddings.token_type_embeddings.weight"] = np.zeros((1, HIDDEN), np.float32)
    network.body.load(weights)
    return network.to(device)


def mean_state(states: Sequence[State]) -> State:
    return {name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]}


def weights_of(network: PairNetwork) -> State:
    """Return the weights in 16 bits under the names of safetensors; word rows are none of them."""
    weights = network.body.weights()
    added: dict[str, nn.Module] = {"kind": network.kind, "pool": network.pool, **network.heads}
    for name, part in added.items():
        for kind, value in part.named_parameters():
            weights[f"{name}.{kind}"] = value.detach().half().cpu().contiguous()
    return weights


class Tokens:
    """Turns pairs of texts into pieces."""

    def __init__(self, file: Path) -> None:
        from tokenizers import Tokenizer

        self.tokenizer = Tokenizer.from_file(str(file))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.first, self.between = map(self.tokenizer.token_to_id, ("[CLS]", "[SEP]"))
        self.size = max(self.tokenizer.get_vocab().values()) + 1

    def pieces(self, texts: list[str]) -> list[list[int]]:
        different = list(dict.fromkeys(texts))
        read = self.tokenizer.encode_batch(different, add_special_tokens=False)
        found = {text: it.ids for text, it in zip(different, read, strict=True)}
        return [found[text] for text in texts]

    def join(self, first: list[int], second: list[int]) -> tuple[list[int], list[int]]:
        """Return [CLS] first [SEP] second [SEP], and the kind of each token."""
        in_first, in_second = set(first), set(second)
        ids = [self.first, *first, self.between, *second, self.between]
        kinds = [0, *(int(it in in_second) for it in first), 0]
        kinds += [*(2 + (it in in_first) for it in second), 2]
        return ids, kinds


def beginning(pieces: list[int]) -> list[int]:
    return pieces[:LONGEST_SIDE]


def both_ends(pieces: list[int]) -> list[int]:
    """Return the first and the last pieces of a message, which say what it wants."""
    half = LONGEST_SIDE
    return pieces if len(pieces) <= 2 * half else [*pieces[:half], *pieces[-half:]]


class Pairs:
    """Pairs of texts on the device; batches of like length are cut out there."""

    def __init__(
        self,
        tokens: Tokens,
        texts: Sequence[tuple[str, str]],
        labels: Sequence[int],
        weights: Sequence[float] | None,
        device: str,
        *,
        is_message: bool = False,
    ) -> None:
        cut = both_ends if is_message else beginning
        first = [beginning(it) for it in tokens.pieces([it[0] for it in texts])]
        second = [cut(it) for it in tokens.pieces([it[1] for it in texts])]
        joined = [tokens.join(*both) for both in zip(first, second, strict=True)]
        self.device = device
        self.lengths = np.array([len(ids) for ids, _ in joined], np.int64)
        starts = np.cumsum(self.lengths) - self.lengths
        self.starts = torch.tensor(starts, device=device)
        self.counts = torch.tensor(self.lengths, device=device)
        self.ids, self.kinds = (
            torch.tensor(
                np.fromiter((it for both in joined for it in both[side]), np.int32), device=device
            )
            for side in (0, 1)
        )
        self.labels = torch.tensor(labels, device=device)
        self.weights = torch.tensor(weights or [1.0] * len(labels), device=device)

    def __len__(self) -> int:
        return len(self.lengths)

    def batch(self, chosen: np.ndarray) -> tuple[Tensor, Tensor, Tensor]:
        """Return pieces, kinds and mask of these pairs."""
        rows = torch.as_tensor(chosen, device=self.device)
        length = (int(self.lengths[chosen].max()) + 7) // 8 * 8
        positions = torch.arange(length, device=self.device)[None]
        mask = positions < self.counts[rows][:, None]
        places = (self.starts[rows][:, None] + positions).clamp(max=self.ids.numel() - 1)
        ids = torch.where(mask, self.ids[places].long(), 0)
        return ids, torch.where(mask, self.kinds[places].long(), 0), mask

    def batches(self, size: int, seed: int) -> Iterator[np.ndarray]:
        draw = np.random.default_rng(seed)
        while True:
            order, found = draw.permutation(len(self)), list[np.ndarray]()
            for at in range(0, len(order), 50 * size):
                window = order[at : at + 50 * size]
                window = window[np.argsort(self.lengths[window], kind="stable")]
                found += [window[it : it + size] for it in range(0, len(window), size)]
            for it in draw.permutation(len(found)):
                yield found[it]


@torch.no_grad()
def read_scores(network: PairNetwork, pairs: Pairs, *heads: str) -> list[np.ndarray]:
    """Return the heads' scores of all pairs, in full precision."""
    network.eval()
    order = np.argsort(pairs.lengths, kind="stable")
    found: list[list[Tensor]] = []
    for at in range(0, len(order), 512):
        scores = network(heads, *pairs.batch(order[at : at + 512]))
        found.append([it.float().cpu() for it in scores])
    network.train()
    tables: list[np.ndarray] = []
    for parts in zip(*found, strict=True):
        table = np.empty((len(pairs), parts[0].shape[1]), np.float32)
        table[order] = torch.cat(parts).numpy()
        tables.append(table)
    return tables


class Task:
    """What a network learns in some of its steps."""

    share: float
    """How often its turn comes."""
    name: str

    def loss(self, network: PairNetwork) -> Tensor:
        raise NotImplementedError


def train(
    network: PairNetwork,
    tasks: Sequence[Task],
    *,
    steps: int,
    rate: float,
    decay: float,
    seed: int,
    name: str,
    seconds: float = 0,
) -> None:
    """Train for some steps or seconds, then put the moving average of the weights in place."""
    draw = np.random.default_rng(seed)
    torch.manual_seed(seed)
    body = list(network.body.parameters())
    added = [it for part, it in network.named_parameters() if not part.startswith("body.")]
    optimiser = torch.optim.AdamW(
        [{"params": body, "lr": rate}, {"params": added, "lr": 5 * rate}],
        betas=(0.9, 0.98),
        weight_decay=0.01,
        fused=body[0].device.type == "cuda",
    )
    rates = [group["lr"] for group in optimiser.param_groups]
    current, average = list(network.parameters()), list(network.state().values())
    shares = np.array([task.share for task in tasks])
    network.train()
    begin = time.time()
    for step in count():
        progress = (time.time() - begin) / seconds if seconds else step / steps
        if progress >= 1:
            break
        now = min(1.0, (step + 1) / _WARM_UP_STEPS) * cosine_decay(progress)
        for group, first in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = first * now
        task = tasks[int(draw.choice(len(tasks), p=shares / shares.sum()))]
        loss = task.loss(network)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_([*body, *added], 1.0)
        optimiser.step()
        with torch.no_grad():
            torch._foreach_lerp_(average, current, 1 - min(decay, (1 + step) / (10 + step)))
        if (step + 1) % _LOGGED_EVERY == 0:
            log(f"{name} step {step + 1} {progress:.2f}", f"{task.name} {loss.item():.3f}")
    with torch.no_grad():
        for it, mean in zip(current, average, strict=True):
            it.copy_(mean)


def agreement(first: Tensor, second: Tensor) -> Tensor:
    """Return how far two readings under different dropout are apart (R-drop)."""
    apart = F.kl_div(first, second, log_target=True, reduction="batchmean")
    return apart + F.kl_div(second, first, log_target=True, reduction="batchmean")


__all__ = [
    "HEADS",
    "WAYS",
    "PairNetwork",
    "Pairs",
    "State",
    "Task",
    "Tokens",
    "agreement",
    "build",
    "half_precision",
    "log",
    "mean_state",
    "read_scores",
    "train",
]
