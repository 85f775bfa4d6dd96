"""Train the reader on one GPU: `python -m training.extract.train WORK SHIPPED OUT`.

WORK is what `rows` wrote. The reader begins as the judge of SHIPPED and reads what stands before a
part of a message together with the part: is it worth keeping, how long, and which attribute does it
state? Readers that have not seen a fifth of the talks choose the limit; the one that is shipped is
the mean of several seeds. OUT gets its weights, and `reader.json` with the limit and the figures.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.extract.limits import limit_at, rates
from training.judge.train import Judge, Pairs, Reader, State, go_on, log, mean_state, save
from training.network import HIDDEN, cosine_decay, half_precision

WORTH = ("not", "days", "weeks", "long")
FOLDS = 5
UNSURE = 0.4
PRECISION = 0.87
FACET_SHARE = 0.5
AGREEMENT = 0.5
ALONE = 0.3


class Rows:
    """Parts of messages on the device, each also without what stands before it."""

    def __init__(
        self, reader: Reader, rows: list[dict[str, Any]], names: list[str], device: str
    ) -> None:
        texts = [(row["before"], row["text"]) for row in rows]
        zeros = [0] * len(rows)
        self.pairs = Pairs(reader, texts, zeros, None, device)
        self.alone = Pairs(reader, [("", text) for _, text in texts], zeros, None, device)
        self.worth = torch.tensor(
            [-1 if row["worth"] is None else WORTH.index(row["worth"]) for row in rows],
            device=device,
        )
        self.facet = torch.tensor(
            [names.index(row["facet"]) if row["facet"] in names else -1 for row in rows],
            device=device,
        )
        self.weight = torch.tensor([1.0 if row["sure"] else UNSURE for row in rows], device=device)


def begin(shipped: Path, facets: int, device: str) -> Judge:
    """Return the shipped judge with heads that know nothing yet."""
    judge = go_on(shipped, "cpu")
    judge.heads = nn.ModuleDict(
        {"worth": nn.Linear(HIDDEN, len(WORTH)), "facet": nn.Linear(HIDDEN, facets)}
    )
    for head in judge.heads.values():
        nn.init.normal_(head.weight, std=0.02)
        nn.init.zeros_(head.bias)
    return judge.to(device)


def both_heads(judge: Judge, pairs: Pairs, chosen: np.ndarray) -> tuple[Tensor, Tensor]:
    """Return the scores of both heads from one reading."""
    kept: list[Tensor] = []
    hook = judge.heads["worth"].register_forward_pre_hook(lambda _, given: kept.append(given[0]))
    with half_precision(pairs.device):
        worth = judge("worth", *pairs.batch(chosen))
    hook.remove()
    return worth, judge.heads["facet"](kept[0])


def loss_of(worth: Tensor, facet: Tensor, rows: Rows, at: Tensor) -> Tensor:
    wanted, logs = rows.worth[at], worth.log_softmax(-1)
    # Of a mere statement it is known that it says something, not for how long.
    told = torch.logsumexp(logs[:, 1:], -1)
    own = torch.where(wanted < 0, told, logs.gather(1, wanted.clamp(min=0)[:, None])[:, 0])
    loss = -(own * rows.weight[at]).mean()
    stated = F.cross_entropy(facet, rows.facet[at], ignore_index=-1, label_smoothing=0.05)
    return loss + FACET_SHARE * torch.nan_to_num(stated)


def train(judge: Judge, rows: Rows, among: np.ndarray, steps: int, rate: float, seed: int) -> None:
    """Train for some steps, then put the moving average of the weights in place."""
    torch.manual_seed(seed)
    draw = np.random.default_rng(seed)
    body = [*judge.body.parameters()]
    added = [it for name, it in judge.named_parameters() if not name.startswith("body.")]
    optimiser = torch.optim.AdamW(
        [{"params": body, "lr": rate}, {"params": added, "lr": 5 * rate}], weight_decay=0.01
    )
    firsts = [group["lr"] for group in optimiser.param_groups]
    current, average = list(judge.parameters()), list(judge.state().values())
    judge.train()
    for step in range(steps):
        now = min(1.0, (step + 1) / (0.06 * steps)) * cosine_decay(step / steps)
        for group, first in zip(optimiser.param_groups, firsts, strict=True):
            group["lr"] = first * now
        chosen = draw.choice(among, 64, replace=False)
        at = torch.as_tensor(chosen, device=rows.pairs.device)
        pairs = rows.alone if draw.random() < ALONE else rows.pairs
        first, second = both_heads(judge, pairs, chosen), both_heads(judge, pairs, chosen)
        loss = 0.5 * (loss_of(*first, rows, at) + loss_of(*second, rows, at))
        one, other = first[0].log_softmax(-1), second[0].log_softmax(-1)
        apart = F.kl_div(one, other, log_target=True, reduction="batchmean")
        apart = apart + F.kl_div(other, one, log_target=True, reduction="batchmean")
        loss = loss + AGREEMENT * apart
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_([*body, *added], 1.0)
        optimiser.step()
        with torch.no_grad():
            torch._foreach_lerp_(average, current, 1 - min(0.995, (1 + step) / (10 + step)))
    with torch.no_grad():
        for it, mean in zip(current, average, strict=True):
            it.copy_(mean)


@torch.no_grad()
def scores_of(judge: Judge, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return how sure it is that each part is worth keeping, as log odds, and the facets."""
    judge.eval()
    worth, facet = zip(
        *(
            both_heads(judge, rows.pairs, np.arange(at, min(at + 512, len(rows.pairs))))
            for at in range(0, len(rows.pairs), 512)
        ),
        strict=True,
    )
    judge.train()
    all_worth = torch.cat(worth).float()
    keep = torch.logsumexp(all_worth[:, 1:], -1) - all_worth[:, 0]
    return keep.cpu().numpy(), torch.cat(facet).argmax(-1).cpu().numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("shipped", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=1_000)
    parser.add_argument("--rate", type=float, default=8e-5)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--device", default="cuda")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cuda.enable_cudnn_sdp(False)
    lines = (given.work / "extract_rows.jsonl").read_text("utf-8").splitlines()
    parts: list[dict[str, Any]] = [json.loads(line) for line in lines]
    names = sorted({row["facet"] for row in parts if row["facet"]})
    rows = Rows(Reader(given.shipped / "tokenizer.json"), parts, names, given.device)
    held = np.array([row["held"] for row in parts])
    kept = np.array([row["worth"] != "not" for row in parts])
    sure = np.array([row["talk"].startswith("talks") and row["sure"] for row in parts])
    facet = rows.facet.cpu().numpy()
    fold = np.array([crc32(row["talk"].encode()) % FOLDS for row in parts])
    judge = begin(given.shipped, len(names), given.device)
    first: State = judge.state()
    unseen = np.empty(len(parts), np.float32)
    for number in range(FOLDS):
        judge.put(first)
        train(
            judge, rows, np.flatnonzero((fold != number) & ~held), given.steps, given.rate, number
        )
        scores, facets = scores_of(judge, rows)
        mine = fold == number
        unseen[mine] = scores[mine]
        stated = mine & (facet >= 0) & kept
        log(f"fold {number}", "facets", round(float((facets == facet)[stated].mean()), 3))
    limit = limit_at(unseen[sure & ~held], kept[sure & ~held], PRECISION)
    log("folds", rates(unseen[sure] > limit, kept[sure]), "limit", round(limit, 3))
    states: list[State] = []
    for seed in range(given.seeds):
        judge.put(first)
        train(judge, rows, np.flatnonzero(~held), given.steps, given.rate, 100 + seed)
        states.append(judge.state())
    judge.put({name: it.half().float() for name, it in mean_state(states).items()})
    scores, facets = scores_of(judge, rows)
    some = sure & held
    found = {
        "limit": limit,
        "facets": names,
        "folds": rates(unseen[sure] > limit, kept[sure]),
        "held back": rates(scores[some] > limit, kept[some]),
        "facets right": float((facets == facet)[held & (facet >= 0) & kept].mean()),
    }
    log(found)
    (given.out / "reader.json").write_text(json.dumps(found, indent=1))
    save(judge, given.out)


if __name__ == "__main__":
    main()
