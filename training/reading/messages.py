"""Go on training the reader of messages: `python -m training.reading.messages SHIPPED WORK OUT`.

SHIPPED has a `reader.onnx`, from which the network begins, with the word rows and the tokenizer;
WORK is what `training.extract.rows` wrote. The network learns what a part of a message is (worth,
stance, about) and what a message needs. Several seeds begin alike (--stage seed, several at a time
on one GPU); their mean is measured and written as OUT/reader.onnx, with its limits in
OUT/reader.json (--stage mean). Without --stage all of it happens one after the other.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch

from training.export import SHAPE
from training.graph import build_pairs
from training.reading import parts
from training.reading.network import (
    HEADS,
    PairNetwork,
    Task,
    Tokens,
    log,
    mean_state,
    train,
    weights_of,
)
from training.rounding import read_rows
from training.shipped import shipped_weights

READER = "reader.onnx"
OF_MESSAGES = {head: HEADS[head] for head in (*parts.HEADS, "needs")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shipped", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--stage", choices=("seed", "mean"))
    parser.add_argument("--steps", type=int, default=1_200)
    parser.add_argument("--seconds", type=float, default=0, help="of a seed, instead of steps")
    parser.add_argument("--rate", type=float, default=5e-5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=96)
    parser.add_argument("--once", action="store_true", help="without R-drop, in half the time")
    parser.add_argument("--device", default="cuda")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    tokens = Tokens(given.shipped / "tokenizer.json")
    if given.stage in (None, "seed"):
        for seed in range(given.seeds) if given.stage is None else (given.seed,):
            network = begin(given.shipped, given.device)
            tasks = parts.tasks(tokens, given.work, given.batch, seed, given.device)
            one_seed(network, tasks, given, seed)
    if given.stage in (None, "mean"):
        finish(begin(given.shipped, given.device), tokens, given)


def begin(shipped: Path, device: str) -> PairNetwork:
    """Return the network that is shipped, with heads that know nothing yet beside its own."""
    network = PairNetwork(torch.tensor(read_rows(shipped)), OF_MESSAGES)
    network.load(shipped_weights((shipped / READER).read_bytes(), SHAPE))
    return network.to(device)


def one_seed(network: PairNetwork, tasks: list[Task], given: argparse.Namespace, seed: int) -> None:
    for task in tasks:
        task.is_read_twice = not given.once
    train(
        network,
        tasks,
        steps=given.steps,
        rate=given.rate,
        decay=0.998,
        seed=seed,
        name=f"seed {seed}",
        seconds=given.seconds,
    )
    torch.save(network.state(), given.out / f"seed-{seed}.pt")


def finish(network: PairNetwork, tokens: Tokens, given: argparse.Namespace) -> None:
    """Write the mean of the seeds, and measure it."""
    files = sorted(given.out.glob("seed-*.pt"))
    state = mean_state([torch.load(file, map_location=given.device) for file in files])
    # What is measured is what is saved.
    network.put({name: it.half().float() for name, it in state.items()})
    weights = {name: it.float().numpy() for name, it in weights_of(network).items()}
    (given.out / READER).write_bytes(build_pairs(weights, SHAPE, list(OF_MESSAGES)))
    found = parts.report(network, tokens, given.work, given.device)
    log(found)
    (given.out / "reader.json").write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
