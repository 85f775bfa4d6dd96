"""What the recipe exports is what the package loads, and the same weights give the same bytes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from recollect.models.local_model import DIMENSION, LocalModel
from tests.unit.training.float_bert import float_bert, random_weights
from tests.unit.training.test_vocabulary import base
from training import export
from training.graph import BertShape

SHAPE = BertShape(layers=1, heads=4, hidden=DIMENSION)
ROWS = "embeddings.word_embeddings.weight"


@pytest.fixture(scope="module")
def weights():
    words = len(base()["model"]["vocab"])
    return random_weights(SHAPE, words=words, positions=16)


def test_the_same_weights_give_the_same_bytes(weights):
    first, second = (export.embedder_files(weights[ROWS], weights, SHAPE) for _ in range(2))
    assert first == second
    assert set(first) == {"words.npy", "scales.npy", "embedder.onnx"}


def test_other_weights_give_other_bytes(weights):
    first = export.embedder_files(weights[ROWS], weights, SHAPE)
    bias = "encoder.layer.0.output.dense.bias"
    second = export.embedder_files(weights[ROWS], {**weights, bias: weights[bias] + 1}, SHAPE)
    assert first["words.npy"] == second["words.npy"]
    assert first["embedder.onnx"] != second["embedder.onnx"]


async def test_the_package_loads_what_was_exported(weights, tmp_path: Path):
    files = export.embedder_files(weights[ROWS], weights, SHAPE)
    files["tokenizer.json"] = json.dumps(base()).encode()
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    export.seal(tmp_path, files)
    embedder = LocalModel(tmp_path).open()
    try:
        (vector,) = await embedder.embed(["the spare keys"], "passage")
    finally:
        await embedder.close()

    exact = float_bert(weights, SHAPE, np.array([7, 4, 5, 6])).mean(axis=0)
    assert vector @ exact / np.linalg.norm(exact) > 0.99


def test_a_changed_file_gives_the_model_another_name(weights, tmp_path: Path):
    names = []
    for bias in (0.0, 1.0):
        changed = {
            name: it + bias if name.endswith("LayerNorm.bias") else it
            for name, it in weights.items()
        }
        export.seal(tmp_path, export.embedder_files(weights[ROWS], changed, SHAPE))
        names.append(LocalModel(tmp_path).version())
    assert names[0] != names[1]
