"""Exact counts of OpenAI's tokens, offline, with the library bpe-openai."""

from __future__ import annotations

import importlib
import warnings
from functools import cached_property
from typing import Any, Final, cast

from recollect.errors import NotAvailable
from recollect.models.faults import missing_library
from recollect.models.readable import readable

# The library refuses longer texts; cutting one adds a token at most at each seam.
_LONGEST: Final = 100_000


class ExactTokens:
    """Counts as one of OpenAI's models does. The vocabulary is loaded by the first count."""

    def __init__(self, encoding: str = "o200k_base") -> None:
        self._encoding_name = encoding

    def count(self, text: str) -> int:
        text = readable(text)
        pieces = (text[start : start + _LONGEST] for start in range(0, len(text), _LONGEST))
        return sum(len(cast("list[int]", self._encoding.encode_ordinary(p))) for p in pieces)

    @cached_property
    def _encoding(self) -> Any:
        with warnings.catch_warnings():
            # The library reads its files in a way that Python calls old, and says so each time.
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
