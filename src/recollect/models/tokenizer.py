"""Tokens and batches of tokens for ONNX models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.models.faults import ModelDamaged, missing_library


@dataclass(frozen=True, slots=True)
class Tokens:
    """The token numbers of a text, or of two texts after each other."""

    ids: NDArray[np.int64]
    # 0 for each token of the first text, 1 for the second.
    types: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)


class Tokenizer:
    """A tokenizer.json that truncates at the maximum length of the model."""

    def __init__(self, data: bytes, longest: int) -> None:
        self._tokenizer = _opened(data)
        # The padding and truncation in the file were another program's choice.
        self._tokenizer.no_padding()
        # Of two texts, the longer one is truncated.
        self._tokenizer.enable_truncation(longest)

    def read(self, text: str, second: str | None = None) -> Tokens:
        read = self._tokenizer.encode(text, second)
        # Without special tokens an empty text has no token, so it gets the first one.
        return Tokens(np.array(read.ids or [0], np.int64), np.array(read.type_ids or [0], np.int64))

    def pieces(self, text: str) -> list[int]:
        """Return the tokens of a text alone, without the marks that open and close it."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids


def padded(texts: Sequence[Tokens]) -> dict[str, NDArray[np.int64]]:
    """Return the inputs of a model for a batch, padded to the longest text."""
    ids = np.zeros((len(texts), max(map(len, texts))), np.int64)
    mask = np.zeros_like(ids)
    types = np.zeros_like(ids)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = text.ids
        mask[row, : len(text)] = 1
        types[row, : len(text)] = text.types
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}


def _opened(data: bytes) -> Any:
    try:
        from tokenizers import Tokenizer as FromLibrary
    except ImportError:
        raise missing_library("tokenizers", "local") from None
    try:
        return FromLibrary.from_str(data.decode("utf-8"))
    except Exception as problem:  # noqa: BLE001 (the library raises nothing narrower)
        raise ModelDamaged(f"tokenizer.json cannot be read: {problem}") from None


# --- Text that every library accepts --------------------------------------------------------------


def readable(text: str) -> str:
    """Return the text with a question mark for each lone surrogate, which cannot be encoded."""
    return text.encode("utf-8", "replace").decode("utf-8")
