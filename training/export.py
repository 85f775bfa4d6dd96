"""Write the files that are shipped: `python -m training.export WEIGHTS STUDENT OUT`.

WEIGHTS holds MiniLM's model.safetensors (the English rows), STUDENT what `training.embedder.train`
wrote, --readers the graphs that `training.reading.train` wrote. OUT gets the word rows in 8 bits,
which the models share, the graphs, the tokenizer and the sha256 of each. Equal input gives equal
bytes.
"""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recollect.models.sealed_folder import sha256
from training import graph
from training.rounding import round_rows
from training.tensors import read_tensors

_WORD_ROWS = "embeddings.word_embeddings.weight"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", type=Path)
    parser.add_argument("student", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--readers", type=Path, nargs="*", default=[])
    given = parser.parse_args()
    english = read_tensors((given.weights / "model.safetensors").read_bytes())[_WORD_ROWS]
    parts = read_parts(given.student)
    rows = np.concatenate([english, parts["rows.0"], parts["rows.1"]])
    files = embedder_files(rows, parts, graph.SHAPE)
    files["tokenizer.json"] = given.tokenizer.read_bytes()
    files |= {file.name: file.read_bytes() for file in given.readers}
    given.out.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (given.out / name).write_bytes(data)
    seal(given.out, files)
    print({name: len(data) for name, data in files.items()})


def embedder_files(
    rows: NDArray[np.float32], weights: Mapping[str, NDArray[np.float32]], shape: graph.BertShape
) -> dict[str, bytes]:
    """Return the word rows, their scales and the embedder's graph."""
    bytes_of_rows, scales = round_rows(rows)
    return {
        "words.npy": _array(bytes_of_rows),
        "scales.npy": _array(scales[:, 0]),
        "embedder.onnx": graph.build_embedder(weights, shape),
    }


def read_parts(folder: Path) -> dict[str, NDArray[np.float32]]:
    """Return the tensors of all safetensors files of a folder."""
    found: dict[str, NDArray[np.float32]] = {}
    for file in sorted(folder.glob("*.safetensors")):
        found |= read_tensors(file.read_bytes())
    return found


def seal(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write down the sha256 of each file, by which the folder is known to be whole."""
    sums = {name: sha256(data) for name, data in sorted(files.items())}
    (folder / "sha256.json").write_text(json.dumps(sums, indent=1) + "\n", "utf-8")


def _array(values: NDArray[np.int8] | NDArray[np.float32]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, values, allow_pickle=False)
    return buffer.getvalue()


if __name__ == "__main__":
    main()
