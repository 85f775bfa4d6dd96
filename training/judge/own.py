"""Our own labelled pairs, which lie in `data` beside this module."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DATA = Path(__file__).with_name("data")


def read_lines(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file of pairs; a row that names no source is of the file."""
    with lzma.open(folder / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield {"src": name, **json.loads(line)}
