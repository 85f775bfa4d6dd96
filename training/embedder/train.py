"""Train the student on one GPU: `python -m training.embedder.train WORK OUT --seconds 440`.

WORK is what `prepare` wrote, with MiniLM's `model.safetensors`. The student learns to give a
Chinese text the vector that MiniLM gives its English translation, and to leave English where it is;
Chinese pairs that belong together are drawn together. English rows and positions stay frozen.
`--tokens-only` reads and caches the texts, which needs no weights and no GPU.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import os
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from training.evaluation import RecallSets, Score, mean_cosine, translations_found
from training.network import ENGLISH_ROWS, HIDDEN, Encoder, cosine_decay, half_precision
from training.rounding import round_rows

LONGEST = 256
START = time.time()

# How often a pair of a source is seen in one round; short dictionary entries least.
PARALLEL_SHARES = defaultdict(
    lambda: 0.6,
    {
        "cedict": 0.4,
        "wordnet": 0.4,
        "cldr": 0.4,
        "osm": 0.5,
        "verses": 0.8,
        "ethereum": 0.8,
        "convlab": 3.0,
        "tatoeba": 3.0,
        "tatoeba+": 2.0,
        "3am_captions": 1.5,
        "3am_captions+": 1.0,
        "opensource_guide": 2.0,
        "own": 6.0,
        "own+": 2.0,
    },
)
CHINESE_SHARES = defaultdict(
    lambda: 0.6,
    {"kdconv": 1.0, "tatoeba": 2.0, "wordnet": 0.4, "drcd": 3.0, "own": 4.0, "answers": 1.5},
)
# How often neighbours of a source are joined to a longer text.
JOINED = {
    "tatoeba": 0.5,
    "k8s_docs": 0.4,
    "mdn_docs": 0.4,
    "python_docs": 0.3,
    "django_docs": 0.3,
    "verses": 0.3,
    "convlab": 0.3,
    "3am_captions": 0.2,
    "own": 0.5,
}


def log(*parts: object) -> None:
    print(f"[{time.time() - START:6.1f}]", *parts, flush=True)


@cache
def tokenizer(file: str) -> Any:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    from tokenizers import Tokenizer

    opened = Tokenizer.from_file(file)
    opened.no_padding()
    opened.enable_truncation(LONGEST)
    return opened


def encode(job: tuple[list[str], str, dict[int, list[int]], int]) -> tuple[np.ndarray, np.ndarray]:
    """Return lengths and tokens of the texts; some words as their characters where asked for."""
    texts, file, characters, seed = job
    draw = random.Random(seed)
    found: list[list[int]] = []
    for read in tokenizer(file).encode_batch(texts):
        ids = read.ids
        if characters and draw.random() < 0.3:
            pieces = [
                characters[it] if it in characters and draw.random() < 0.35 else [it] for it in ids
            ]
            ids = [token for piece in pieces for token in piece]
            if len(ids) > LONGEST:
                ids = [*ids[: LONGEST - 1], ids[-1]]
        found.append(ids)
    lengths = np.array([len(ids) for ids in found], np.int32)
    return lengths, np.fromiter((token for ids in found for token in ids), np.int32)


class Texts:
    """All texts of a kind as tokens on the device; batches are cut out there."""

    def __init__(self, lengths: np.ndarray, flat: np.ndarray, device: str) -> None:
        starts = np.concatenate([[0], np.cumsum(lengths.astype(np.int64))[:-1]])
        self.device = device
        self.lengths = lengths
        self.starts = torch.tensor(starts, device=device)
        self.counts = torch.tensor(lengths, device=device)
        self.flat = torch.tensor(flat, device=device)

    def batch(self, chosen: np.ndarray) -> tuple[Tensor, Tensor]:
        rows = torch.as_tensor(chosen, device=self.device)
        length = min(LONGEST, (int(self.lengths[chosen].max()) + 7) // 8 * 8)
        positions = torch.arange(length, device=self.device)[None]
        mask = positions < self.counts[rows].long()[:, None]
        places = (self.starts[rows][:, None] + positions).clamp(max=self.flat.numel() - 1)
        return torch.where(mask, self.flat[places].long(), 0), mask


class Reader:
    """Reads texts into tokens in all cores, and remembers them in the work folder."""

    def __init__(self, work: Path, device: str) -> None:
        self.work, self.device = work, device
        self.file = str(work / "tokenizer.json")
        first = json.loads((work / "init.json").read_text())
        self.beginnings: dict[str, list[int]] = first["init"]
        self.characters = {int(it): parts for it, parts in first["split"].items()}
        self.added = first["size"] - ENGLISH_ROWS
        self.pool = ProcessPoolExecutor(max(1, (os.cpu_count() or 2) - 1))

    def read(self, texts: list[str], *, split: bool = False, seed: int = 0) -> Texts:
        told = hashlib.sha256("\n".join([str(split), str(seed), *texts]).encode()).hexdigest()[:16]
        kept = self.work / f"tokens-{told}.npz"
        if not kept.is_file():
            size = max(1, len(texts) // 64 + 1)
            characters = self.characters if split else {}
            jobs = [
                (texts[at : at + size], self.file, characters, seed + at)
                for at in range(0, len(texts), size)
            ]
            parts = list(self.pool.map(encode, jobs))
            lengths, flat = (np.concatenate(column) for column in zip(*parts, strict=True))
            np.savez(kept, lengths=lengths, flat=flat)
        stored = np.load(kept)
        return Texts(stored["lengths"], stored["flat"], self.device)


def read_rows(file: Path) -> list[list[str]]:
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t") for line in lines]


def joined(rows: list[list[str]], kept_apart: set[int]) -> list[list[str]]:
    """Return neighbours of one source as longer texts with their translation."""
    draw, at, found = random.Random(3), 0, list[list[str]]()
    while at < len(rows):
        source, size = rows[at][0], draw.randint(2, 8)
        if draw.random() < JOINED.get(source, 0):
            near = [
                row
                for place, row in enumerate(rows[at : at + size], at)
                if row[0] == source and place not in kept_apart
            ]
            if len(near) > 1 and sum(len(row[1]) for row in near) < 420:
                glue = draw.choice(["", " "])
                found.append(
                    [
                        f"{source}+",
                        glue.join(row[1] for row in near),
                        " ".join(row[2] for row in near),
                    ]
                )
        at += size
    return found


def batches(
    sides: list[Texts], shares: np.ndarray, budget: int, most: int, groups: np.ndarray | None = None
) -> Iterator[np.ndarray]:
    """Yield batches of like length for ever; each has at most `budget` tokens on all sides."""
    draw = np.random.default_rng(0)
    cost = sum(side.lengths.astype(np.int64) for side in sides)
    while True:
        times = np.floor(shares + draw.random(len(shares))).astype(int)
        taken, found = np.repeat(np.arange(len(shares)), times), list[np.ndarray]()
        for group in [None] if groups is None else np.unique(groups):
            rows = taken if group is None or groups is None else taken[groups[taken] == group]
            draw.shuffle(rows)
            for window in range(0, len(rows), 60_000):
                part = rows[window : window + 60_000]
                part, at = part[np.argsort(cost[part], kind="stable")], 0
                while at < len(part):
                    longest = max(
                        int(side.lengths[part[min(len(part) - 1, at + 64)]]) for side in sides
                    )
                    size = int(min(most, max(64, budget // (len(sides) * max(8, longest)))))
                    batch, at = part[at : at + size], at + size
                    if len(batch) >= 48:
                        found.append(np.unique(batch))
        draw.shuffle(found)
        yield from found


@torch.no_grad()
def embed(model: Encoder, texts: Texts, *, exactly: bool = False, budget: int = 200_000) -> Tensor:
    model.eval()
    vectors = torch.empty(len(texts.lengths), HIDDEN, device=texts.device)
    order, at = np.argsort(-texts.lengths, kind="stable"), 0
    while at < len(order):
        size = max(1, budget // max(8, int(texts.lengths[order[at]])))
        rows, at = order[at : at + size], at + size
        with nullcontext() if exactly else half_precision(texts.device):
            vectors[torch.as_tensor(rows, device=texts.device)] = model(*texts.batch(rows))
    model.train()
    return vectors


def contrast(first: Tensor, second: Tensor, scale: float, alike: Tensor) -> Tensor:
    """InfoNCE both ways; what is nearly the same text is no wrong answer."""
    own = torch.eye(len(first), device=first.device, dtype=torch.bool)
    scores = (first @ second.T * scale).masked_fill(alike & ~own, -1e4)
    right = torch.arange(len(first), device=first.device)
    return (F.cross_entropy(scores, right) + F.cross_entropy(scores.T, right)) / 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--weights",
        type=Path,
        help="the folder with MiniLM's model.safetensors; random weights without it",
    )
    parser.add_argument("--seconds", type=float, default=440)
    parser.add_argument("--steps", type=int, default=0, help="stop after so many steps")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tokens-only", action="store_true")
    parser.add_argument("--budget", type=int, default=65_536, help="tokens in a batch")
    parser.add_argument("--chinese-weight", type=float, default=0.7)
    given = parser.parse_args()
    device: str = "cpu" if given.tokens_only else given.device
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cuda.enable_cudnn_sdp(False)

    parallel, chinese = read_rows(given.work / "par.tsv.xz"), read_rows(given.work / "zz.tsv.xz")
    english = [row[0] for row in read_rows(given.work / "en.tsv.xz")]
    apart = set(
        np.random.default_rng(0)
        .choice(len(parallel), min(2_000, len(parallel) // 10), replace=False)
        .tolist()
    )
    held = [parallel[at] for at in sorted(apart)]
    longer = joined(parallel, apart)
    parallel = [row for at, row in enumerate(parallel) if at not in apart] + longer
    log(
        "translations",
        len(parallel),
        "of them joined",
        len(longer),
        "Chinese pairs",
        len(chinese),
        "English",
        len(english),
    )
    reader = Reader(given.work, device)
    chinese_side = reader.read([row[1] for row in parallel], split=True, seed=1)
    english_side = reader.read([row[2] for row in parallel])
    asked, answers = (
        reader.read([row[side] for row in chinese], split=True, seed=side) for side in (1, 2)
    )
    plain = reader.read(english)
    held_chinese, held_english = (reader.read([row[side] for row in held]) for side in (1, 2))
    sets = RecallSets.read(given.work / "eval.json.gz")
    measured = reader.read(sets.texts) if sets.texts else None
    reader.pool.shutdown()
    log(
        "tokens",
        chinese_side.flat.numel(),
        english_side.flat.numel(),
        asked.flat.numel(),
        answers.flat.numel(),
        plain.flat.numel(),
    )
    if given.tokens_only:
        return

    teacher, student = Encoder(reader.added).to(device), Encoder(reader.added).to(device)
    if given.weights is not None:
        from safetensors.numpy import load_file

        weights = load_file(given.weights / "model.safetensors")
        for model in (teacher, student):
            model.load(weights)
    teacher.requires_grad_(False)
    student.begin_rows(reader.beginnings)
    student.english.weight.requires_grad_(False)
    student.body.positions.weight.requires_grad_(False)
    target, plain_target, held_target = (
        embed(teacher, it).half() for it in (english_side, plain, held_english)
    )
    log("teacher's vectors", tuple(target.shape), tuple(plain_target.shape))

    def recall(model: Encoder) -> dict[str, Score]:
        if measured is None:
            return {}
        return sets.scores(embed(model, measured, exactly=True).cpu().numpy())

    def report(name: str) -> dict[str, Any]:
        wanted = held_target.float().cpu().numpy()
        found, kept = (embed(student, it).cpu().numpy() for it in (held_chinese, held_english))
        translation = translations_found(found, wanted)
        near, same = mean_cosine(found, wanted), mean_cosine(kept, wanted)
        scores = recall(student)
        log(f"== {name}: translation {translation:.3f}, Chinese {near:.3f}, English {same:.4f}")
        for set_name, score in scores.items():
            log(f"   {set_name:20s} nDCG@10 {score.ndcg:.3f} hit@1 {score.hit:.3f}")
        told = {name: (score.ndcg, score.hit) for name, score in scores.items()}
        return {"translation": translation, "chinese": near, "english": same, "sets": told}

    log("teacher", {name: round(score.ndcg, 3) for name, score in recall(teacher).items()})
    rows = [student.added.weight]
    layers = [it for it in student.body.parameters() if it.requires_grad]
    optimiser = torch.optim.AdamW(
        [{"params": layers, "weight_decay": 0.01}, {"params": rows, "weight_decay": 0.0}],
        betas=(0.9, 0.98),
        eps=1e-8,
        fused=device == "cuda",
    )
    trained = {name: it for name, it in student.named_parameters() if it.requires_grad}
    average = {name: it.detach().clone() for name, it in trained.items()}
    sources = sorted({row[0] for row in chinese})
    groups = np.array([sources.index(row[0]) for row in chinese])
    translations = batches(
        [chinese_side, english_side],
        np.array([PARALLEL_SHARES[row[0]] for row in parallel]),
        given.budget,
        2_048,
    )
    pairs = batches(
        [asked, answers],
        np.array([CHINESE_SHARES[row[0]] for row in chinese]),
        given.budget,
        1_024,
        groups,
    )
    alone = batches([plain], np.ones(len(english)), given.budget // 4, 512)
    log("Chinese pairs by source", dict(Counter(row[0] for row in chinese)))

    student.train()
    begin, step, last = time.time(), 0, time.time()
    while True:
        progress = step / given.steps if given.steps else (time.time() - begin) / given.seconds
        if progress >= 1:
            break
        rate = min(1.0, step / 300) * cosine_decay(progress)
        # The layers wait until the new rows have found their places.
        optimiser.param_groups[0]["lr"] = 2e-4 * rate * (1 if step > 200 else 0.1)
        optimiser.param_groups[1]["lr"] = 1e-3 * rate
        chosen, together, english_only = next(translations), next(pairs), next(alone)
        with half_precision(device):
            mine, own_english = (
                student(*chinese_side.batch(chosen)),
                student(*english_side.batch(chosen)),
            )
            question, answer = student(*asked.batch(together)), student(*answers.batch(together))
            kept = student(*plain.batch(english_only))
        wanted = target[torch.as_tensor(chosen, device=device)].float()
        wanted_kept = plain_target[torch.as_tensor(english_only, device=device)].float()
        with torch.no_grad():
            alike = (question @ question.T > 0.95) | (answer @ answer.T > 0.95)
        losses = {
            "chinese": 4.0 * (2 - 2 * (mine * wanted).sum(1)).mean(),
            "english": 8.0 * (2 - 2 * (own_english * wanted).sum(1)).mean(),
            "kept": 8.0 * (2 - 2 * (kept * wanted_kept).sum(1)).mean(),
            "translation": 0.5 * contrast(mine, wanted, 25.0, wanted @ wanted.T > 0.9),
            "pairs": given.chinese_weight * contrast(question, answer, 20.0, alike),
        }
        optimiser.zero_grad(set_to_none=True)
        sum(losses.values(), torch.zeros((), device=device)).backward()
        torch.nn.utils.clip_grad_norm_([*layers, *rows], 1.0)
        optimiser.step()
        step += 1
        with torch.no_grad():
            decay = min(0.999, (1 + step) / (10 + step))
            torch._foreach_lerp_(list(average.values()), list(trained.values()), 1 - decay)
        if step % 50 == 0 and time.time() - last > 30:
            last = time.time()
            log(
                f"step {step} {progress:.2f}",
                {name: round(loss.item(), 4) for name, loss in losses.items()},
            )
    with torch.no_grad():
        for name, it in trained.items():
            it.copy_(average[name])
    result = report(f"end, {step} steps")
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "scores.json").write_text(json.dumps({"steps": step, **result}))
    save(student, given.out)
    save(student, given.work / "student")
    # The rows as they will be shipped: on these the reader of pairs is trained.
    rows, scales = round_rows(student.rows().float().cpu().numpy())
    (given.work / "export").mkdir(exist_ok=True)
    np.save(given.work / "export" / "words.npy", rows, allow_pickle=False)
    np.save(given.work / "export" / "scales.npy", scales[:, 0])
    log("done")


def save(student: Encoder, folder: Path) -> None:
    """Write what was trained, in parts small enough to be carried: added rows, layers."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    rows = student.added.weight.detach().half().cpu()
    half = len(rows) // 2
    save_file({"rows.0": rows[:half].contiguous()}, folder / "rows-0.safetensors")
    save_file({"rows.1": rows[half:].contiguous()}, folder / "rows-1.safetensors")
    weights = student.body.weights()
    low = {
        name
        for name in weights
        if name.startswith(tuple(f"encoder.layer.{it}." for it in range(3)))
    }
    save_file(
        {name: it for name, it in weights.items() if name in low}, folder / "layers-0.safetensors"
    )
    save_file(
        {name: it for name, it in weights.items() if name not in low},
        folder / "layers-1.safetensors",
    )


if __name__ == "__main__":
    main()
