"""Exact token counts of OpenAI's models, offline, with the library bpe-openai."""

from __future__ import annotations

import importlib
import warnings
from functools import cached_property
from typing import Any, Final, cast

from recollect.errors import NotAvailable
from recollect.models.faults import missing_library
from recollect.models.onnx_model import readable

# The library refuses longer texts; splitting one adds at most one token at each cut.
_MAX_TEXT_CHARACTERS: Final = 100_000


class ExactTokens:
    """Counts tokens like one of OpenAI's models. The first count loads the vocabulary."""

    def __init__(self, encoding: str = "o200k_base") -> None:
        self._encoding_name = encoding

    def count(self, text: str) -> int:
        text = readable(text)
        pieces = (
            text[start : start + _MAX_TEXT_CHARACTERS]
            for start in range(0, len(text), _MAX_TEXT_CHARACTERS)
        )
        return sum(len(cast("list[int]", self._encoding.encode_ordinary(p))) for p in pieces)

    @cached_property
    def _encoding(self) -> Any:
        with warnings.catch_warnings():
            # The library opens its files in a deprecated way, which warns each time.
            warnings.simplefilter("ignore", DeprecationWarning)
            return self._opened()

    def _opened(self) -> Any:
        try:
            library: Any = importlib.import_module("bpe_openai")
        except ImportError:
            raise missing_library("bpe-openai", "tokens") from None
        known = cast("list[str]", library.list_encoding_names())
        if self._encoding_name not in known:
            raise NotAvailable(
                f"There is no encoding {self._encoding_name!r}",
                code="unknown_encoding",
                hint=f"Use one of: {', '.join(known)}.",
            )
        return library.get_encoding(self._encoding_name)
