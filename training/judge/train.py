"""Train the judge on one GPU: `python -m training.judge.train WORK OUT`.

WORK is what `pairs` wrote, with the tokenizer, the `student` and its `export`. The judge reads an
old and a new statement together and says same, update, conflict or different. It begins as the
student's body; the word rows stay the embedder's, rounded to bytes as they are shipped. Entailment
and translations come first, then our own pairs, with several seeds whose weights are averaged.

With --begin SHIPPED it goes on from the judge of that folder instead, with our own pairs alone.
"""

from __future__ import annotations

import argparse
import json
import lzma
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.network import (
    HIDDEN,
    LAYERS,
    Body,
    RoundedLinear,
    cosine_decay,
    half_precision,
)

LABELS = ("same", "update", "conflict", "different")
SAME, UPDATE, CONFLICT, DIFFERENT = range(4)
LONGEST_SIDE = 72
SMOOTHING = 0.05
HELD_AUX = 2_000
START = time.time()

State = dict[str, Tensor]


def log(*parts: object) -> None:
    print(f"[{time.time() - START:6.1f}]", *parts, flush=True)


class Judge(nn.Module):
    """Reads two statements at once; its heads say what the new one is to the old one."""

    def __init__(self, rows: Tensor) -> None:
        super().__init__()
        self.register_buffer("rows", rows, persistent=False)
        # What is learnt in small steps would otherwise be lost when the weights are rounded.
        self.body = Body(RoundedLinear)
        self.body.dropout = 0.1
        self.kind = nn.Embedding(4, HIDDEN)
        self.pool = RoundedLinear(4 * HIDDEN, HIDDEN)
        self.heads = nn.ModuleDict(
            {"own": nn.Linear(HIDDEN, 4), "nli": nn.Linear(HIDDEN, 3), "para": nn.Linear(HIDDEN, 2)}
        )
        nn.init.zeros_(self.kind.weight)
        for part in (self.pool, *self.heads.values()):
            nn.init.normal_(part.weight, std=0.02)
            nn.init.zeros_(part.bias)

    def forward(self, head: str, ids: Tensor, kinds: Tensor, mask: Tensor) -> Tensor:
        states = self.body(F.embedding(ids, self.rows) + self.kind(kinds), mask)
        old = self._mean(states, (kinds < 2) & mask)
        new = self._mean(states, (kinds > 1) & mask)
        joined = torch.cat([states[:, 0], old, new, (old - new).abs()], dim=-1)
        # Out of autocast: the last steps are small, and decide.
        with torch.autocast(ids.device.type, enabled=False):
            pooled = torch.tanh(self.pool(joined.float()))
            pooled = F.dropout(pooled, self.body.dropout, self.training)
            return self.heads[head](pooled)

    @staticmethod
    def _mean(states: Tensor, chosen: Tensor) -> Tensor:
        share = chosen[..., None].float()
        return (states * share).sum(1) / share.sum(1)

    def begin_own(self) -> None:
        """Start the own head from what entailment and paraphrase already know."""
        nli, para = self.heads["nli"].weight, self.heads["para"].weight
        same = nli[0] + para[1] - para[0]
        with torch.no_grad():
            start = torch.stack([same, 0.5 * nli[2], nli[2], nli[1]])
            self.heads["own"].weight.copy_(0.5 * start)

    def state(self) -> State:
        return {name: it.detach().clone() for name, it in self.named_parameters()}

    def put(self, state: State) -> None:
        with torch.no_grad():
            for name, it in self.named_parameters():
                it.copy_(state[name])


def build(student: Path | None, exported: Path | None, size: int, device: str) -> Judge:
    """Return a judge that begins as the student, or at random where no weights are given."""
    if student is None or exported is None:
        rows = np.random.default_rng(0).normal(0, 0.05, (size, HIDDEN)).astype(np.float32)
        return Judge(torch.tensor(rows)).to(device)
    from safetensors.numpy import load_file

    # The very rows that are shipped.
    rows = np.load(exported / "words.npy") * np.load(exported / "scales.npy")[:, None]
    if len(rows) < size:
        raise SystemExit(
            f"the student has {len(rows)} word rows, the tokenizer needs {size}: "
            "take the tokenizer.json that the student was trained with"
        )
    judge = Judge(torch.tensor(rows.astype(np.float32)))
    weights = load_file(student / "layers-0.safetensors")
    weights |= load_file(student / "layers-1.safetensors")
    # The saved positions have the type added already.
    weights["embeddings.token_type_embeddings.weight"] = np.zeros((1, HIDDEN), np.float32)
    judge.body.load(weights)
    return judge.to(device)


def go_on(shipped: Path, device: str) -> Judge:
    """Return the judge that is shipped, with the word rows beside it."""
    from training.export import HEADS, SHAPE
    from training.shipped import read_judge

    rows = np.load(shipped / "words.npy") * np.load(shipped / "scales.npy")[:, None]
    judge = Judge(torch.tensor(rows.astype(np.float32)))
    weights = read_judge((shipped / "judge.onnx").read_bytes(), SHAPE, tuple(HEADS.values()))
    weights["embeddings.token_type_embeddings.weight"] = np.zeros((1, HIDDEN), np.float32)
    judge.body.load(weights)
    added: dict[str, nn.Module] = {"kind": judge.kind, "pool": judge.pool, **judge.heads}
    with torch.no_grad():
        for name, part in added.items():
            for kind, value in part.named_parameters():
                value.copy_(torch.tensor(weights[f"{name}.{kind}"]))
    return judge.to(device)


class Reader:
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
        found = {text: it.ids[:LONGEST_SIDE] for text, it in zip(different, read, strict=True)}
        return [found[text] for text in texts]

    def join(self, old: list[int], new: list[int]) -> tuple[list[int], list[int]]:
        """Return [CLS] old [SEP] new [SEP], and 2 * side + (also on the other side) of each."""
        in_old, in_new = set(old), set(new)
        ids = [self.first, *old, self.between, *new, self.between]
        kinds = [0, *(int(it in in_new) for it in old), 0, *(2 + (it in in_old) for it in new), 2]
        return ids, kinds


class Pairs:
    """Pairs of statements on the device; batches of like length are cut out there."""

    def __init__(
        self,
        reader: Reader,
        texts: list[tuple[str, str]],
        labels: list[int],
        weights: list[float] | None,
        device: str,
    ) -> None:
        old, new = (reader.pieces([it[side] for it in texts]) for side in (0, 1))
        joined = [reader.join(*both) for both in zip(old, new, strict=True)]
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


class Task:
    """A head, the pairs it learns from, and how often its turn comes."""

    def __init__(self, head: str, pairs: Pairs, share: float, size: int, seed: int) -> None:
        self.head, self.pairs, self.share = head, pairs, share
        self.chosen = pairs.batches(size, seed)

    def loss(self, judge: Judge) -> Tensor:
        rows = next(self.chosen)
        inputs = self.pairs.batch(rows)
        at = torch.as_tensor(rows, device=self.pairs.device)
        labels, weights = self.pairs.labels[at], self.pairs.weights[at]

        def read() -> tuple[Tensor, Tensor]:
            with half_precision(self.pairs.device):
                scores = judge(self.head, *inputs)
            loss = F.cross_entropy(scores, labels, reduction="none", label_smoothing=SMOOTHING)
            return scores.log_softmax(-1), (loss * weights).mean()

        first, loss = read()
        if self.head != "own":
            return loss
        # R-drop: two readings under different dropout should agree.
        second, again = read()
        apart = F.kl_div(first, second, log_target=True, reduction="batchmean")
        apart = apart + F.kl_div(second, first, log_target=True, reduction="batchmean")
        return 0.5 * (loss + again) + 0.5 * apart


def train(
    judge: Judge, tasks: list[Task], steps: int, rate: float, decay: float, seed: int, name: str
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
        fused=tasks[0].pairs.device == "cuda",
    )
    rates = [group["lr"] for group in optimiser.param_groups]
    current, average = list(judge.parameters()), list(judge.state().values())
    shares = np.array([task.share for task in tasks])
    judge.train()
    for step in range(steps):
        now = min(1.0, (step + 1) / max(1.0, 0.06 * steps)) * cosine_decay(step / steps)
        for group, first in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = first * now
        task = tasks[int(draw.choice(len(tasks), p=shares / shares.sum()))]
        loss = task.loss(judge)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_([*body, *added], 1.0)
        optimiser.step()
        with torch.no_grad():
            torch._foreach_lerp_(average, current, 1 - min(decay, (1 + step) / (10 + step)))
        if (step + 1) % max(1, steps // 5) == 0:
            log(f"{name} step {step + 1}", f"{task.head} {loss.item():.3f}")
    with torch.no_grad():
        for it, mean in zip(current, average, strict=True):
            it.copy_(mean)


@torch.no_grad()
def read_scores(judge: Judge, pairs: Pairs, head: str = "own") -> np.ndarray:
    """Return the head's scores of all pairs, in full precision."""
    judge.eval()
    order, found = np.argsort(pairs.lengths, kind="stable"), list[Tensor]()
    for at in range(0, len(order), 512):
        found.append(judge(head, *pairs.batch(order[at : at + 512])).float().cpu())
    judge.train()
    scores = np.empty((len(pairs), found[0].shape[1]), np.float32)
    scores[order] = torch.cat(found).numpy()
    return scores


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

    def __init__(self, reader: Reader, rows: list[dict[str, Any]], device: str) -> None:
        self.rows = rows
        labels = [LABELS.index(row["label"]) for row in rows]
        there = [(row["old"], row["new"]) for row in rows]
        back = [(new, old) for old, new in there]
        self.labels = np.array(labels)
        self.there, self.back = (
            Pairs(reader, texts, labels, None, device) for texts in (there, back)
        )
        fresh = np.array([row["src"] == "fresh" for row in rows])
        lives = np.array([row["src"] == "lives" for row in rows])
        auto = np.array([bool(row.get("auto")) for row in rows])
        several = np.array([row["src"] == "several" for row in rows])
        languages = np.array([row["lang"] for row in rows])
        self.parts = {
            "hand-written": ~fresh & ~auto & ~lives,
            "auto": auto & ~several,
            "several": several,
            "fresh": fresh,
            "lives": lives,
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

    def report(self, judge: Judge) -> dict[str, Any]:
        """Return accuracy, temperature and thresholds, and print them."""
        there, back = read_scores(judge, self.there), read_scores(judge, self.back)
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
            for part in ("hand-written", "fresh", "lives")
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


def read_own(work: Path, reader: Reader, device: str) -> Pairs:
    with lzma.open(work / "judge_train.jsonl.xz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    texts = [(row["old"], row["new"]) for row in rows]
    labels = [LABELS.index(row["label"]) for row in rows]
    return Pairs(reader, texts, labels, [float(row["w"]) for row in rows], device)


def read_aux(work: Path, reader: Reader, device: str) -> dict[str, tuple[Pairs, Pairs]]:
    """Return the pairs to train on and those to look at, by head."""
    with lzma.open(work / "judge_aux.tsv.xz", "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    found = dict[str, tuple[Pairs, Pairs]]()
    for kind, head in (("n", "nli"), ("p", "para")):
        of_kind = [row for row in rows if row[0] == kind]
        held = min(HELD_AUX, len(of_kind) // 10)
        learnt, looked_at = (
            Pairs(
                reader, [(it[1], it[2]) for it in part], [int(it[3]) for it in part], None, device
            )
            for part in (of_kind[held:], of_kind[:held])
        )
        found[head] = learnt, looked_at
    return found


def mean_state(states: list[State]) -> State:
    return {name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]}


def save(judge: Judge, folder: Path) -> None:
    """Write the weights in two parts, small enough to be carried; word rows are the student's."""
    from safetensors.torch import save_file

    weights = judge.body.weights()
    added: dict[str, nn.Module] = {"kind": judge.kind, "pool": judge.pool, **judge.heads}
    for name, part in added.items():
        for kind, value in part.named_parameters():
            weights[f"{name}.{kind}"] = value.detach().half().cpu().contiguous()
    low = tuple(f"encoder.layer.{it}." for it in range(LAYERS // 2))
    first = {name: it for name, it in weights.items() if name.startswith(low)}
    save_file(first, folder / "judge-0.safetensors")
    save_file(
        {name: it for name, it in weights.items() if name not in first},
        folder / "judge-1.safetensors",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--student", type=Path, help="the embedder's weights; WORK/student")
    parser.add_argument("--export", type=Path, help="the shipped word rows; WORK/export")
    parser.add_argument("--random", action="store_true", help="begin with random weights")
    parser.add_argument("--begin", type=Path, help="a shipped folder whose judge goes on")
    parser.add_argument("--steps-aux", type=int, default=2_500)
    parser.add_argument("--steps-own", type=int, default=2_200)
    parser.add_argument("--rate", type=float, default=1e-4, help="of learning from our own pairs")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--batch", type=int, default=256)
    given = parser.parse_args()
    exported = None if given.random else given.export or given.work / "export"
    device: str = given.device
    torch.manual_seed(given.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cuda.enable_cudnn_sdp(False)
    given.out.mkdir(parents=True, exist_ok=True)

    reader = Reader(given.work / "tokenizer.json")
    rows = [
        json.loads(it) for it in (given.work / "judge_dev.jsonl").read_text("utf-8").splitlines()
    ]
    dev = Dev(reader, rows, device)
    own = read_own(given.work, reader, device)
    aux = {} if given.begin else read_aux(given.work, reader, device)
    log("own pairs", len(own), "dev", len(rows), {head: len(it[0]) for head, it in aux.items()})
    shares = {"nli": 2.0, "para": 1.0}
    found = dict[str, float]()
    if given.begin:
        judge = go_on(given.begin, device)
        log("before", dev.report(judge)["accuracy"])
    else:
        student = None if given.random else given.student or given.work / "student"
        judge = build(student, exported, reader.size, device)
        tasks = [Task(it, aux[it][0], shares[it], given.batch, given.seed) for it in aux]
        train(judge, tasks, given.steps_aux, 2e-4, 0.999, given.seed, "aux")
        for head, (_, held) in aux.items():
            said = read_scores(judge, held, head).argmax(1)
            found[head] = round(float((said == held.labels.cpu().numpy()).mean()), 3)
        log("held-out entailment and paraphrase", found)
        judge.begin_own()
    begin = judge.state()

    states, losses = dict[str, State](), dict[str, float]()
    for seed in range(given.seed, given.seed + given.seeds):
        judge.put(begin)
        tasks = [Task("own", own, 1.0, given.batch, seed)]
        tasks += [Task(it, aux[it][0], 0.1 * shares[it], given.batch, seed) for it in aux]
        train(judge, tasks, given.steps_own, given.rate, 0.995, seed, f"own, seed {seed}")
        states[f"seed {seed}"] = judge.state()
    if len(states) > 1:
        states["average"] = mean_state(list(states.values()))
    for name, state in states.items():
        judge.put(state)
        scores = read_scores(judge, dev.there)
        temperature = best_temperature(scores[dev.decisive], dev.labels[dev.decisive])
        losses[name] = dev.nll(scores, temperature)
        parts = {
            it: class_accuracy(scores[dev.parts[it]], dev.labels[dev.parts[it]])
            for it in ("hand-written", "fresh", "lives")
            if it in dev.parts
        }
        log(f"{name}: nll {losses[name]:.4f} at temperature {temperature:.2f}", parts)
    best = min(losses, key=losses.__getitem__)
    log("== kept:", best)
    # What is measured is what is saved.
    judge.put({name: it.half().float() for name, it in states[best].items()})
    result = {"kept": best, "nll by weights": losses, "aux": found, **dev.report(judge)}
    (given.out / "judge.json").write_text(json.dumps(result, indent=1))
    save(judge, given.out)
    log("done")


if __name__ == "__main__":
    main()
