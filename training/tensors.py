"""Weights in the safetensors format: a JSON header with offsets, then plain numbers."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

_KINDS: Final = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2")}


def read_tensors(data: bytes) -> Mapping[str, NDArray[np.float32]]:
    """Return every float tensor of the file, by name, in 32 bits."""
    (length,) = struct.unpack_from("<Q", data)
    header = cast("dict[str, dict[str, Any]]", json.loads(data[8 : 8 + length]))
    header.pop("__metadata__", None)
    return {
        name: _tensor(data, 8 + length, entry)
        for name, entry in header.items()
        if entry["dtype"] in _KINDS
    }


def _tensor(data: bytes, begin: int, entry: dict[str, Any]) -> NDArray[np.float32]:
    kind = _KINDS[entry["dtype"]]
    first, last = entry["data_offsets"]
    flat = np.frombuffer(data, kind, count=(last - first) // kind.itemsize, offset=begin + first)
    return flat.astype(np.float32).reshape(entry["shape"])
