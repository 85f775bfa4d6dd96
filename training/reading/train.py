"""Train the network that reads pairs of texts: `python -m training.reading.train WORK OUT`.

WORK is what `judge.pairs`, `answers.groups` and `extract.rows` wrote, with the tokenizer, the
`student` and its `export`. The network begins as the student's body; the word rows stay the
embedder's, rounded to bytes as they are shipped. Entailment and translations come first (--stage
begin), then relations, parts and messages, at last answers beside them, with one seed (--stage
seed, several at a time on one GPU), and the mean of the seeds is measured and saved (--stage mean).
Without --stage all of it happens one after the other.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from training.reading import answers, parts, relations
from training.reading.network import (
    PairNetwork,
    Task,
    Tokens,
    build,
    log,
    mean_state,
    read_scores,
    save,
    train,
)

LAST_LEG = 0.35
"""The part of the training in which answers are learnt: later, and so not by heart."""
AUX_SHARES = {"nli": 2.0, "para": 1.0}
SHARES = {"relation": 2.4, "answer": 3.4, "parts": 1.6, "needs": 0.8, "nli": 0.3, "para": 0.15}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--stage", choices=("begin", "seed", "mean"))
    parser.add_argument("--student", type=Path, help="the embedder's weights; WORK/student")
    parser.add_argument("--export", type=Path, help="the shipped word rows; WORK/export")
    parser.add_argument("--steps-aux", type=int, default=2_500)
    parser.add_argument("--steps", type=int, default=7_000)
    parser.add_argument("--seconds", type=float, default=0, help="of a stage, instead of steps")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--device", default="cuda")
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cuda.enable_cudnn_sdp(False)
    given.out.mkdir(parents=True, exist_ok=True)
    tokens = Tokens(given.work / "tokenizer.json")
    student = given.student or given.work / "student"
    network = build(student, given.export or given.work / "export", tokens.size, given.device)
    if given.stage in (None, "begin"):
        begin(network, tokens, given)
    if given.stage == "seed":
        one_seed(network, tokens, given, given.seed)
    elif given.stage is None:
        for seed in range(given.seeds):
            one_seed(network, tokens, given, seed)
    if given.stage in (None, "mean"):
        finish(network, tokens, given)


def begin(network: PairNetwork, tokens: Tokens, given: argparse.Namespace) -> None:
    """Learn entailment, paraphrases and translations."""
    aux = relations.read_aux(given.work, tokens, given.device)
    tasks: list[Task] = [
        relations.Statements(head, pairs, AUX_SHARES[head], given.batch, given.seed)
        for head, (pairs, _) in aux.items()
    ]
    train(
        network,
        tasks,
        steps=given.steps_aux,
        rate=2e-4,
        decay=0.999,
        seed=0,
        name="begin",
        seconds=given.seconds,
    )
    for head, (_, held) in aux.items():
        (scores,) = read_scores(network, held, head)
        right = (scores.argmax(1) == held.labels.cpu().numpy()).mean()
        log("held-out", head, round(float(right), 3))
    network.begin_ways()
    torch.save(network.state(), given.out / "begin.pt")


def one_seed(network: PairNetwork, tokens: Tokens, given: argparse.Namespace, seed: int) -> None:
    """Learn all ways of reading together."""
    network.put(torch.load(given.out / "begin.pt", map_location=given.device))
    device, size = given.device, given.batch
    groups = max(2, size // 8)
    tasks: list[Task] = [
        relations.Statements(
            "relation",
            relations.read_own(given.work, tokens, device),
            SHARES["relation"],
            size,
            seed,
        )
    ]
    for kind, task in (("parts", parts.Parts), ("messages", parts.Messages)):
        rows = parts.read_rows(given.work, kind, "train")
        share = SHARES["parts" if kind == "parts" else "needs"]
        tasks.append(task(tokens, rows, share, max(16, size // 4), seed, device))
    tasks += (
        relations.Statements(head, pairs, SHARES[head], size, seed)
        for head, (pairs, _) in relations.read_aux(given.work, tokens, device).items()
    )
    own, public, _ = answers.read_groups(given.work, tokens, device)
    answering: list[Task] = [
        answers.Answers(own, answers.OWN_SHARE * SHARES["answer"], groups, seed),
        answers.Answers(public, (1 - answers.OWN_SHARE) * SHARES["answer"], groups, seed),
    ]
    for leg, learnt, part in (
        ("first", tasks, 1 - LAST_LEG),
        ("last", [*tasks, *answering], LAST_LEG),
    ):
        train(
            network,
            learnt,
            steps=round(part * given.steps),
            rate=given.rate,
            decay=0.998,
            seed=seed,
            name=f"seed {seed}, {leg} leg",
            seconds=part * given.seconds,
        )
    torch.save(network.state(), given.out / f"seed-{seed}.pt")


def finish(network: PairNetwork, tokens: Tokens, given: argparse.Namespace) -> None:
    """Save the mean of the seeds, and measure it."""
    device = given.device
    rows = (given.work / "judge_dev.jsonl").read_text("utf-8").splitlines()
    dev = relations.Dev(tokens, [json.loads(row) for row in rows], device)
    _, _, held = answers.read_groups(given.work, tokens, device)
    states = [torch.load(file, map_location=device) for file in sorted(given.out.glob("seed-*.pt"))]
    # What is measured is what is saved.
    network.put({name: it.half().float() for name, it in mean_state(states).items()})
    save(network, given.out)
    found: dict[str, Any] = {"relations": dev.report(network)}
    found["answers"] = answers.report(network, held)
    found["parts"] = parts.report(network, tokens, given.work, device)
    log(found["answers"])
    log(found["parts"])
    (given.out / "pairs.json").write_text(json.dumps(found, indent=1, default=_plain))


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else str(value)


if __name__ == "__main__":
    main()
