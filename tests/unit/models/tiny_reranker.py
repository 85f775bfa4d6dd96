"""A real cross-encoder, small enough to make in a test: it counts what two texts share."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.unit.models.tiny_model import word_tokenizer
from training.onnx_graph import FLOAT, INT64, Graph

MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
WORDS = ("key", "drawer", "where", "the", "is", "in", "钥", "匙", "抽", "屉", "在", "哪", "zebra")
PER_MATCH = 3.0
BIAS = -2.0


def logit(question: str, text: str) -> float:
    """What the model says of two texts whose words stand apart by spaces."""
    first, second = question.split(), text.split()
    return PER_MATCH * sum(first.count(word) * second.count(word) for word in WORDS) + BIAS


def tiny_graph(*, knows_types: bool = True, labels: int = 1, bias: float = BIAS) -> bytes:
    """Bags of words of both texts, multiplied; without token types the bag of all with itself."""
    graph = Graph()
    ids = graph.input("input_ids", INT64, ("batch", "tokens"))
    mask = graph.input("attention_mask", INT64, ("batch", "tokens"))
    first = second = everything = graph.node("Cast", mask, to=FLOAT)
    if knows_types:
        types = graph.input("token_type_ids", INT64, ("batch", "tokens"))
        second = graph.node("Mul", graph.node("Cast", types, to=FLOAT), everything)
        first = graph.node("Sub", everything, second)
    marks = np.zeros((len(MARKS), len(WORDS)))
    table = np.concatenate([marks, np.eye(len(WORDS))]).astype(np.float32)
    states = graph.node("Gather", graph.constant(table), ids)
    bags = [
        graph.node("MatMul", graph.node("Unsqueeze", of, _axes(graph, 1)), states)
        for of in (first, second)
    ]
    shared = graph.node("ReduceSum", graph.node("Mul", *bags), _axes(graph, 2), keepdims=0)
    weights = graph.constant(np.full((1, labels), PER_MATCH, np.float32))
    logits = graph.node("Mul", shared, weights)
    logits = graph.node("Add", logits, graph.constant(np.array([bias], np.float32)))
    graph.output(logits, "logits", FLOAT, ("batch", labels))
    return graph.model()


def marker_graph(marker: str) -> bytes:
    """Say 7 of a second text with the marker, which is one of WORDS, and -7 of others."""
    graph = Graph()
    ids = graph.input("input_ids", INT64, ("batch", "tokens"))
    types = graph.input("token_type_ids", INT64, ("batch", "tokens"))
    table = np.zeros((len(MARKS + WORDS), 1), np.float32)
    table[(MARKS + WORDS).index(marker)] = 14.0
    states = graph.node("Gather", graph.constant(table), ids)
    second = graph.node("Unsqueeze", graph.node("Cast", types, to=FLOAT), _axes(graph, 1))
    seen = graph.node(
        "ReduceSum", graph.node("MatMul", second, states), _axes(graph, 2), keepdims=0
    )
    logits = graph.node("Add", seen, graph.constant(np.array([-7.0], np.float32)))
    graph.output(logits, "logits", FLOAT, ("batch", 1))
    return graph.model()


def tiny_tokenizer() -> bytes:
    """A tokenizer as BERT's, over the few words."""
    return word_tokenizer(
        MARKS + WORDS,
        longest=3,
        normalizer={
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        pre_tokenizer={"type": "BertPreTokenizer"},
        post_processor={"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
    )


def write_folder(folder: Path, graph: bytes | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(graph or tiny_graph())
    (folder / "tokenizer.json").write_bytes(tiny_tokenizer())
    return folder


def _axes(graph: Graph, axis: int) -> str:
    return graph.constant(np.array([axis], np.int64))
