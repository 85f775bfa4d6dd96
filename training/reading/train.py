"""Train the network that reads pairs of texts: `python -m training.reading.train WORK OUT`.

WORK is what `judge.pairs`, `answers.groups` and `extract.rows` wrote, with the tokenizer, the
`student` and its `export`. The network begins as the student's body; the word rows stay the
embedder's, rounded to bytes as they are shipped. It learns in legs, each of which goes on from
another (LEGS): entailment, then what the reader is asked, at last what the answerer is asked. With
--leg NAME --seed N one seed runs one leg, several seeds at a time on one GPU; --mean NAME writes
the mean of a leg's seeds as OUT/NAME.onnx, and its figures as OUT/NAME.json. Without either
everything happens one after the other. With --shipped FOLDER a leg whose beginning is not in OUT
goes on from the file of that folder, on its word rows and tokenizer.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from training.graph import SHAPE, build_pairs
from training.reading import answers, facets, parts, relations
from training.reading.network import (
    PairNetwork,
    Task,
    Tokens,
    build,
    log,
    mean_state,
    train,
    weights_of,
)
from training.rounding import read_rows
from training.shipped import shipped_weights

_RELATIONS: Final = {"relation": 2.0, "nli": 0.3, "para": 0.15}
_MESSAGES: Final = {"parts": 2.4, "needs": 0.8}


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """What the network learns together, how long, and from which other leg's end on."""

    learns: Mapping[str, float]
    """How often the turn of each task comes."""
    begins_at: str = ""
    steps: int
    rate: float = 1e-4
    heads: tuple[str, ...] = ()
    """The heads that are shipped of it."""
    goes_on: str = "reader.onnx"
    """The shipped file that it goes on from, if one is given."""


LEGS: Final = {
    "begin": Leg(learns={"nli": 2.0, "para": 1.0}, steps=2_500, rate=2e-4),
    "reader": Leg(
        learns=_RELATIONS | _MESSAGES | {"facet": 1.0},
        begins_at="begin",
        steps=5_000,
        heads=("relation", *parts.HEADS, "facet", "needs"),
    ),
    "answerer": Leg(
        learns={"answer": 1.0},
        begins_at="reader",
        steps=3_000,
        heads=("answer",),
        goes_on="answerer.onnx",
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--leg", choices=LEGS)
    parser.add_argument("--mean", choices=LEGS)
    parser.add_argument("--student", type=Path, help="the embedder's weights; WORK/student")
    parser.add_argument("--export", type=Path, help="the shipped word rows; WORK/export")
    parser.add_argument("--shipped", type=Path, help="a folder of shipped files to go on from")
    parser.add_argument("--steps", type=int, default=0, help="of a leg, instead of its own")
    parser.add_argument("--seconds", type=float, default=0, help="of a leg, instead of steps")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--device", default="cuda")
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cuda.enable_cudnn_sdp(False)
    given.out.mkdir(parents=True, exist_ok=True)
    tokens = Tokens((given.shipped or given.work) / "tokenizer.json")
    network = begin(given, tokens)
    everything = not (given.leg or given.mean)
    for name, leg in LEGS.items():
        if everything or name == given.leg:
            seeds = range(given.seeds) if everything and leg.begins_at else [given.seed]
            for seed in seeds:
                run(name, network, tokens, given, seed)
        if leg.heads and (everything or name == given.mean):
            finish(name, network, tokens, given)


def begin(given: argparse.Namespace, tokens: Tokens) -> PairNetwork:
    """Return the network as the student's body, or as the reader that is shipped."""
    if given.shipped:
        network = PairNetwork(torch.tensor(read_rows(given.shipped)))
        leg = LEGS[given.leg or given.mean or "reader"]
        network.load(shipped_weights((given.shipped / leg.goes_on).read_bytes(), SHAPE))
        return network.to(given.device)
    student = given.student or given.work / "student"
    return build(student, given.export or given.work / "export", tokens.size, given.device)


def run(
    name: str, network: PairNetwork, tokens: Tokens, given: argparse.Namespace, seed: int
) -> None:
    """Learn what a leg teaches, with one seed."""
    leg = LEGS[name]
    end = _end(given.out, leg.begins_at, seed) if leg.begins_at else None
    if end and (end.exists() or not given.shipped):
        network.put(torch.load(end, map_location=given.device))
    aux = relations.read_aux(given.work, tokens, given.device) if "nli" in leg.learns else {}
    train(
        network,
        read_tasks(leg.learns, tokens, given, seed, {head: it for head, (it, _) in aux.items()}),
        steps=given.steps or leg.steps,
        rate=leg.rate,
        decay=0.998,
        seed=seed,
        name=f"{name}, seed {seed}",
        seconds=given.seconds,
    )
    if not leg.begins_at:
        for head, (_, held) in aux.items():
            log("held out", head, relations.accuracy(network, held, head))
        network.begin_ways()
    torch.save(network.state(), _end(given.out, name, seed))


def read_tasks(
    learns: Mapping[str, float],
    tokens: Tokens,
    given: argparse.Namespace,
    seed: int,
    aux: Mapping[str, relations.Pairs],
) -> list[Task]:
    """Return what is learnt, each with how often its turn comes."""
    work, device, size = given.work, given.device, given.batch
    found: list[Task] = [
        relations.Statements(head, pairs, learns[head], size, seed) for head, pairs in aux.items()
    ]
    if "relation" in learns:
        own = relations.read_own(work, tokens, device)
        found.append(relations.Statements("relation", own, learns["relation"], size, seed))
    for kind, name, task in (
        ("parts", "parts", parts.Parts),
        ("messages", "needs", parts.Messages),
    ):
        if name in learns:
            rows = parts.read_rows(work, kind, "train")
            found.append(task(tokens, rows, learns[name], max(16, size // 4), seed, device))
    if "facet" in learns:
        share = learns["facet"]
        found.append(facets.Facets(tokens, work, share, size, seed, device))
    if "answer" in learns:
        count = max(2, size // 8)
        for kind, groups in answers.read_groups(work, tokens, device).items():
            share = answers.SHARES[kind] * learns["answer"]
            found.append(answers.Answers(groups, share, count, seed))
    return found


def finish(name: str, network: PairNetwork, tokens: Tokens, given: argparse.Namespace) -> None:
    """Write the mean of a leg's seeds, and measure it."""
    device, heads = given.device, LEGS[name].heads
    ends = sorted(given.out.glob(f"{name}-*.pt"))
    states = [torch.load(file, map_location=device) for file in ends]
    # What is measured is what is saved.
    network.put({it: value.half().float() for it, value in mean_state(states).items()})
    weights = {it: value.float().numpy() for it, value in weights_of(network).items()}
    (given.out / f"{name}.onnx").write_bytes(build_pairs(weights, SHAPE, heads))
    found: dict[str, Any] = {}
    if "relation" in heads:
        rows = (given.work / "judge_dev.jsonl").read_text("utf-8").splitlines()
        dev = relations.Dev(tokens, [json.loads(row) for row in rows], device)
        found["relations"] = dev.report(network)
    if "answer" in heads:
        held = answers.read_held(given.work, tokens, device)
        found["answers"] = answers.report(network, held)
    if "worth" in heads:
        found["parts"] = parts.report(network, tokens, given.work, device)
    if "facet" in heads:
        found["facets"] = facets.report(network, tokens, given.work, device)
    log(name, {part: it for part, it in found.items() if part != "relations"})
    (given.out / f"{name}.json").write_text(json.dumps(found, indent=1, default=_plain))


def _end(out: Path, name: str, seed: int) -> Path:
    return out / f"{name}-{seed if LEGS[name].begins_at else 0}.pt"


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else str(value)


if __name__ == "__main__":
    main()
