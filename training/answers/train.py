"""Train the answerer on one GPU: `python -m training.answers.train WORK SHIPPED OUT`.

It reads a question and a text together and tells whether the text answers the question. It goes on
from the judge in SHIPPED, whose word rows it shares. WORK is what `groups` wrote. Several seeds are
trained and their weights averaged.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.judge.train import (
    Judge,
    Pairs,
    Reader,
    State,
    go_on,
    log,
    mean_state,
    save,
)
from training.network import HIDDEN, cosine_decay, half_precision

HEAD = "answer"
TEXTS = 12
MOST_RIGHT = 2
OWN_SHARE = 0.7


class Groups:
    """Questions with their texts on the device; a batch has some texts of some questions."""

    def __init__(self, reader: Reader, groups: list[dict[str, Any]], device: str) -> None:
        texts = [(it["q"], text) for it in groups for text in (*it["right"], *it["wrong"])]
        labels = [
            int(place < len(it["right"]))
            for it in groups
            for place in range(len(it["right"]) + len(it["wrong"]))
        ]
        self.groups = groups
        self.pairs = Pairs(reader, texts, labels, None, device)
        sizes = np.array([len(it["right"]) + len(it["wrong"]) for it in groups])
        self.starts = np.cumsum(sizes) - sizes
        self.right = np.array([len(it["right"]) for it in groups])
        self.sizes = sizes

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


def loss_of(judge: Judge, groups: Groups, chosen: np.ndarray, owners: np.ndarray) -> Tensor:
    """Return how far each text is from its label, and the right ones from the top."""
    device = groups.pairs.device
    with half_precision(device):
        scores = judge(HEAD, *groups.pairs.batch(chosen))[:, 0].float()
    labels = groups.pairs.labels[torch.as_tensor(chosen, device=device)].float()
    each = F.binary_cross_entropy_with_logits(scores, 0.96 * labels + 0.02)
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
    return each + 0.3 * (all_scores - right_scores).mean()


def _places(owners: np.ndarray) -> np.ndarray:
    starts = np.searchsorted(owners, owners)
    return np.arange(len(owners)) - starts


def train(
    judge: Judge, own: Groups, public: Groups, *, steps: int, rate: float, size: int, seed: int
) -> None:
    """Train for some steps, then put the moving average of the weights in place."""
    draw = np.random.default_rng(seed)
    torch.manual_seed(seed)
    body = [it for it in judge.body.parameters() if it.requires_grad]
    added = [it for part, it in judge.named_parameters() if not part.startswith("body.")]
    optimiser = torch.optim.AdamW(
        [{"params": body, "lr": rate}, {"params": added, "lr": 5 * rate}],
        betas=(0.9, 0.98),
        weight_decay=0.01,
        fused=own.pairs.device == "cuda",
    )
    rates = [group["lr"] for group in optimiser.param_groups]
    current, average = list(judge.parameters()), list(judge.state().values())
    batches = own.batches(size, seed), public.batches(size, seed)
    judge.train()
    for step in range(steps):
        now = min(1.0, (step + 1) / max(1.0, 0.06 * steps)) * cosine_decay(step / steps)
        for group, first in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = first * now
        is_public = draw.random() >= OWN_SHARE
        source = public if is_public else own
        loss = loss_of(judge, source, *next(batches[is_public]))
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_([*body, *added], 1.0)
        optimiser.step()
        with torch.no_grad():
            torch._foreach_lerp_(average, current, 1 - min(0.998, (1 + step) / (10 + step)))
        if (step + 1) % max(1, steps // 6) == 0:
            log(f"seed {seed} step {step + 1} loss {loss.item():.3f}")
    with torch.no_grad():
        for it, mean in zip(current, average, strict=True):
            it.copy_(mean)


@torch.no_grad()
def report(judge: Judge, groups: Groups) -> dict[str, Any]:
    """Return how often the best text is a right one, and how silence could be told."""
    judge.eval()
    scores = np.empty(len(groups.pairs), np.float32)
    order = np.argsort(groups.pairs.lengths, kind="stable")
    for at in range(0, len(order), 512):
        part = order[at : at + 512]
        scores[part] = judge(HEAD, *groups.pairs.batch(part))[:, 0].float().cpu().numpy()
    judge.train()
    first, best = dict[str, list[bool]](), dict[str, list[float]]()
    for group, start, size, right in zip(
        groups.groups, groups.starts, groups.sizes, groups.right, strict=True
    ):
        own = scores[start : start + size]
        best.setdefault(group["from"], []).append(float(own.max()))
        if right:
            first.setdefault(group["from"], []).append(bool(own.argmax() < right))
    found: dict[str, Any] = {name: round(float(np.mean(it)), 3) for name, it in first.items()}
    for answered, unanswered in (("scene ask", "scene none"), ("change", "change none")):
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("shipped", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=3_000)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--batch", type=int, default=32, help="questions in a batch")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--device", default="cuda")
    given = parser.parse_args()
    device: str = given.device
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cuda.enable_cudnn_sdp(False)
    given.out.mkdir(parents=True, exist_ok=True)
    reader = Reader(given.shipped / "tokenizer.json")
    with lzma.open(given.work / "answers_train.jsonl.xz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    held = (given.work / "answers_dev.jsonl").read_text("utf-8").splitlines()
    dev = Groups(reader, [json.loads(line) for line in held], device)
    is_own = [it["from"].startswith(("scene", "change", "life")) for it in rows]
    own, public = (
        Groups(reader, [it for it, own in zip(rows, is_own, strict=True) if own is kept], device)
        for kept in (True, False)
    )
    log("own", len(own.groups), "public", len(public.groups), "held back", len(dev.groups))
    judge = begin(given.shipped, device)
    first = judge.state()
    states: list[State] = []
    for seed in range(given.seeds):
        judge.put(first)
        train(judge, own, public, steps=given.steps, rate=given.rate, size=given.batch, seed=seed)
        states.append(judge.state())
        log(f"seed {seed}", report(judge, dev))
    judge.put({name: it.half().float() for name, it in mean_state(states).items()})
    found = report(judge, dev)
    log("mean", found)
    (given.out / "answers.json").write_text(json.dumps(found, indent=1))
    save(judge, given.out)


def begin(shipped: Path, device: str) -> Judge:
    """Return the shipped judge with a head that knows nothing yet."""
    judge = go_on(shipped, "cpu")
    judge.heads = nn.ModuleDict({HEAD: nn.Linear(HIDDEN, 1)})
    nn.init.normal_(judge.heads[HEAD].weight, std=0.02)
    nn.init.zeros_(judge.heads[HEAD].bias)
    return judge.to(device)


if __name__ == "__main__":
    main()
