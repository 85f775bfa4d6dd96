"""BERT as MiniLM has it, small enough to read, and its weights in and out of safetensors."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.rounding import LARGEST_WEIGHT

HIDDEN, HEADS, LAYERS, POSITIONS = 384, 12, 6, 512
ENGLISH_ROWS = 30_522
_PARTS = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "attended": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "output_norm": "output.LayerNorm",
}


class RoundedLinear(nn.Linear):
    """A product whose weights are rounded as they will be shipped, and learn through it."""

    def forward(self, input: Tensor) -> Tensor:
        weight = self.weight
        step = weight.detach().abs().amax(1, keepdim=True) / LARGEST_WEIGHT
        rounded = torch.round(weight / step) * step
        return F.linear(input, weight + (rounded - weight).detach(), self.bias)


class Layer(nn.Module):
    """Attention and a feed-forward part, each with its normalisation."""

    def __init__(self, linear: type[nn.Linear] = nn.Linear) -> None:
        super().__init__()
        self.query, self.key, self.value, self.attended = (linear(HIDDEN, HIDDEN) for _ in range(4))
        self.inner = linear(HIDDEN, 4 * HIDDEN)
        self.outer = linear(4 * HIDDEN, HIDDEN)
        self.attention_norm = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.output_norm = nn.LayerNorm(HIDDEN, eps=1e-12)

    def forward(self, states: Tensor, mask: Tensor, dropout: float) -> Tensor:
        batch, length, _ = states.shape

        def heads(part: nn.Linear) -> Tensor:
            return part(states).view(batch, length, HEADS, HIDDEN // HEADS).transpose(1, 2)

        mixed = F.scaled_dot_product_attention(
            heads(self.query), heads(self.key), heads(self.value), attn_mask=mask
        )
        mixed = self.attended(mixed.transpose(1, 2).reshape(batch, length, HIDDEN))
        states = self.attention_norm(states + F.dropout(mixed, dropout, self.training))
        # The graph that we ship uses this approximation, too.
        made = self.outer(F.gelu(self.inner(states), approximate="tanh"))
        return self.output_norm(states + F.dropout(made, dropout, self.training))


class Body(nn.Module):
    """Everything above the word rows, which come in as vectors."""

    def __init__(self, linear: type[nn.Linear] = nn.Linear) -> None:
        super().__init__()
        self.positions = nn.Embedding(POSITIONS, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.layers = nn.ModuleList(Layer(linear) for _ in range(LAYERS))
        self.dropout = 0.0

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        states = self.norm(words + self.positions.weight[: words.shape[1]])
        states = F.dropout(states, self.dropout, self.training)
        kind = torch.bfloat16 if torch.is_autocast_enabled(words.device.type) else torch.float32
        hidden = torch.zeros(mask.shape, device=words.device, dtype=kind)
        hidden = hidden.masked_fill_(~mask, -1e4)[:, None, None, :]
        hidden = hidden.expand(-1, 1, mask.shape[1], -1)
        for layer in self.layers:
            states = layer(states, hidden, self.dropout)
        return states.float()

    def load(self, weights: Mapping[str, np.ndarray]) -> None:
        """Take the weights as safetensors name them; a token's type is part of its position."""

        def tensor(name: str) -> Tensor:
            return torch.tensor(weights[name].astype(np.float32))

        with torch.no_grad():
            types = tensor("embeddings.token_type_embeddings.weight")[0]
            self.positions.weight.copy_(tensor("embeddings.position_embeddings.weight") + types)
            for part in ("weight", "bias"):
                getattr(self.norm, part).copy_(tensor(f"embeddings.LayerNorm.{part}"))
            for name, place in self._places():
                place.copy_(tensor(name))

    def weights(self) -> dict[str, Tensor]:
        """Return the weights under the names of safetensors, positions with the type added."""
        found = {"embeddings.position_embeddings.weight": self.positions.weight}
        found |= {f"embeddings.LayerNorm.{it}": getattr(self.norm, it) for it in ("weight", "bias")}
        found |= dict(self._places())
        return {name: value.detach().half().cpu().contiguous() for name, value in found.items()}

    def _places(self) -> list[tuple[str, Tensor]]:
        return [
            (f"encoder.layer.{number}.{name}.{kind}", getattr(getattr(layer, part), kind))
            for number, layer in enumerate(self.layers)
            for part, name in _PARTS.items()
            for kind in ("weight", "bias")
        ]


class Encoder(nn.Module):
    """A text as one vector of length 1: the mean of its tokens."""

    def __init__(self, added_rows: int) -> None:
        super().__init__()
        self.english = nn.Embedding(ENGLISH_ROWS, HIDDEN)
        self.added = nn.Embedding(max(1, added_rows), HIDDEN)
        self.body = Body()

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        rows = torch.cat([self.english.weight, self.added.weight])
        states = self.body(F.embedding(ids, rows), mask)
        shares = mask[..., None].float()
        return F.normalize((states * shares).sum(1) / shares.sum(1), dim=-1)

    def load(self, weights: Mapping[str, np.ndarray]) -> None:
        with torch.no_grad():
            rows = torch.tensor(weights["embeddings.word_embeddings.weight"].astype(np.float32))
            self.english.weight.copy_(rows[:ENGLISH_ROWS])
        self.body.load(weights)

    @torch.no_grad()
    def rows(self) -> Tensor:
        """Return all word rows as they are saved: those that were added, in 16 bits."""
        return torch.cat([self.english.weight, self.added.weight.half().float()])

    def begin_rows(self, beginnings: Mapping[str, list[int]]) -> None:
        """Start each added row as the mean of its gloss, or near the middle of all rows."""
        rows = self.english.weight.data
        mean, spread = rows[2_000:28_000].mean(0), rows[2_000:28_000].std(0)
        with torch.no_grad():
            for row, tokens in beginnings.items():
                noise = spread * torch.randn(HIDDEN, device=rows.device)
                known = torch.tensor(tokens, device=rows.device)
                start = rows[known].mean(0) if tokens else mean + 0.5 * noise
                self.added.weight[int(row) - ENGLISH_ROWS] = start + 0.05 * noise


def half_precision(device: str) -> torch.autocast:
    """Return the context in which a GPU computes in bfloat16; a processor would be slower so."""
    return torch.autocast(device, torch.bfloat16, enabled=device == "cuda")


def cosine_decay(progress: float, floor: float = 0.02) -> float:
    """Return the share of the learning rate at this part of a run."""
    return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * progress))
