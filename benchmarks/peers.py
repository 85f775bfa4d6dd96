"""Recollect beside other memories on SQLite: the same texts, vectors looked up, one run.

The others are installed into `benchmarks/.venv-peers`, which git ignores. Recollect runs in the
environment that runs this. Each is measured in a process of its own, in turns, and a figure is the
median of the rounds. `numpy` is the floor: a table, and a matrix held in memory.

    python benchmarks/peers.py [--rounds 3] [--json FILE] [--chart FILE.svg] [NAME ...]
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from recollect.evaluation.speed import Writer

HERE = Path(__file__).parent
ENVIRONMENT = HERE / ".venv-peers"
# sqlite-vec and SqliteStore need a SQLite that loads extensions: pysqlite3 brings one.
PACKAGES = [
    "numpy",
    "sqlite-vec",
    "langgraph-checkpoint-sqlite",
    "pysqlite3-binary",
    "mem0ai",
    "chromadb",
]
NAMES = ["recollect", "langgraph", "sqlite-vec", "chroma", "mem0", "numpy"]
# mem0 commits every text by itself: a round takes minutes.
MEASURED_ONCE = {"mem0"}
DIMENSION = 384
TEXTS, QUESTIONS = 10_000, 303
ROWS = {
    "recall_100_ms": "recall, 100 records a user, p50 ms",
    "recall_10000_ms": "recall, 10,000 records, p50 ms",
    "save_p50_ms": "one durable save, p50 ms",
    "save_p95_ms": "one durable save, p95 ms",
    "bulk_per_s": "records a second in bulk",
    "first_s": "new process to first answer, s",
}


def install() -> None:
    """Make the peers' environment, unless it is there."""
    made_for = ENVIRONMENT / ".made-for"
    if made_for.exists() and made_for.read_text() == " ".join(PACKAGES):
        return
    print(f"installing {', '.join(PACKAGES)} into {ENVIRONMENT}", file=sys.stderr)
    python = ENVIRONMENT / "bin" / "python"
    own = HERE.parent / ".tools" / "bin" / "uv"
    uv = shutil.which("uv") or str(own)
    subprocess.run(
        [uv, "venv", "-q", "--clear", "--python", sys.executable, ENVIRONMENT], check=True
    )
    subprocess.run([uv, "pip", "install", "-q", "--python", python, *PACKAGES], check=True)
    made_for.write_text(" ".join(PACKAGES))


def write_texts(path: Path) -> None:
    writer = Writer()
    texts = list(dict.fromkeys(writer.text(number) for number in range(TEXTS + 100)))[:TEXTS]
    questions = [writer.question(number) for number in range(QUESTIONS)]
    rows = np.random.default_rng(7).normal(size=(TEXTS + QUESTIONS, DIMENSION)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    np.savez(path, texts=json.dumps(texts), questions=json.dumps(questions), vectors=rows)


def measured(name: str, texts: Path, folder: Path) -> dict[str, float]:
    python = sys.executable if name == "recollect" else str(ENVIRONMENT / "bin" / "python")
    command = [python, str(HERE / "peer_stores.py"), name, str(texts), str(folder)]
    done = subprocess.run([*command, "all"], check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    subprocess.run([*command, "first"], check=True, stdout=subprocess.PIPE)
    start = time.perf_counter()
    with subprocess.Popen([*command, "first"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        figures["first_s"] = time.perf_counter() - start
    return figures


def chart(figures: dict[str, dict[str, float]]) -> str:
    """Draw a group of bars for each row, on a logarithmic scale, as SVG."""
    bar, gap, left, width = 16, 34, 110, 420
    parts: list[str] = []
    y = 10
    for row, title in ROWS.items():
        parts.append(f'<text x="8" y="{y + 12}" font-weight="bold">{title}</text>')
        y += 20
        values = {name: told[row] for name, told in figures.items()}
        low, high = math.log10(min(values.values()) / 2), math.log10(max(values.values()))
        for name, value in values.items():
            length = width * (math.log10(value) - low) / (high - low)
            colour = "#2563eb" if name == "recollect" else "#94a3b8"
            parts.append(
                f'<text x="{left - 6}" y="{y + 12}" text-anchor="end">{name}</text>'
                f'<rect x="{left}" y="{y}" width="{length:.0f}" height="{bar - 3}"'
                f' fill="{colour}"/>'
                f'<text x="{left + length + 5:.0f}" y="{y + 12}">{value:,.2f}</text>'
            )
            y += bar
        y += gap - bar
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 90}" height="{y}"'
        ' font-family="sans-serif" font-size="12" fill="#475569">\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--chart", type=Path, help="draw the figures to this SVG file")
    asked = parser.parse_args()
    install()
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in asked.names}
    with tempfile.TemporaryDirectory() as place:
        texts = Path(place) / "texts.npz"
        write_texts(texts)
        for number in range(asked.rounds):
            for name in asked.names:
                if number and name in MEASURED_ONCE:
                    continue
                folder = Path(place) / f"{name}-{number}"
                folder.mkdir()
                rounds[name].append(measured(name, texts, folder))
                shutil.rmtree(folder)
    figures = {
        name: {row: statistics.median(it[row] for it in told) for row in ROWS}
        for name, told in rounds.items()
    }
    print(f"{'':<38}" + "".join(f"{name:>12}" for name in figures) + "   ours / langgraph")
    for row, title in ROWS.items():
        line = f"{title:<38}" + "".join(f"{it[row]:>12,.2f}" for it in figures.values())
        if "recollect" in figures and "langgraph" in figures:
            line += f"{figures['recollect'][row] / figures['langgraph'][row]:>12.2f}"
        print(line)
    if asked.json:
        asked.json.write_text(json.dumps(figures, indent=2) + "\n")
    if asked.chart:
        asked.chart.write_text(chart(figures))


main()
