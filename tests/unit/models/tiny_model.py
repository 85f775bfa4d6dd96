"""A real model folder, small enough to make in a test: each word has a vector of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from recollect.models.onnx_embedder import ModelFiles
from training.onnx_graph import FLOAT, INT64, Graph

DIMENSION = 6
WORDS = ("[PAD]", "[UNK]", "one", "two", "three", "four", "query:", "passage:")


def tiny_graph(*, inputs: Sequence[str] = ("input_ids", "attention_mask")) -> bytes:
    """A graph that looks every token up in a table of random vectors."""
    graph = Graph()
    for name in inputs:
        graph.input(name, INT64, ("batch", "tokens"))
    table = np.random.default_rng(7).normal(size=(len(WORDS), DIMENSION)).astype(np.float32)
    states = graph.node("Gather", graph.constant(table), "input_ids")
    graph.output(states, "last_hidden_state", FLOAT, ("batch", "tokens", DIMENSION))
    return graph.model()


def tiny_tokenizer() -> bytes:
    """A tokenizer that splits at spaces."""
    return word_tokenizer(WORDS, longest=2, pre_tokenizer={"type": "WhitespaceSplit"})


def word_tokenizer(words: Sequence[str], longest: int, **parts: Any) -> bytes:
    """A tokenizer of whole words; it cuts and pads as files from elsewhere do."""
    tokenizer = {
        "version": "1.0",
        "truncation": {"max_length": longest, "strategy": "LongestFirst", "stride": 0},
        "padding": {
            "strategy": {"Fixed": 32},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        },
        "added_tokens": [],
        "normalizer": None,
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: index for index, word in enumerate(words)},
            "unk_token": "[UNK]",
        },
    }
    return json.dumps(tokenizer | parts).encode()


def tiny_files() -> ModelFiles:
    return ModelFiles(graph=tiny_graph(), tokenizer=tiny_tokenizer())


def write_folder(folder: Path, settings: Mapping[str, Any] | None = None) -> Path:
    """The model as a folder, with the given configuration files in it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(tiny_graph())
    (folder / "tokenizer.json").write_bytes(tiny_tokenizer())
    for name, content in (settings or {"config.json": {"hidden_size": DIMENSION}}).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    return folder
