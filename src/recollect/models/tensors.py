"""Reading weights in the safetensors format: a JSON header with offsets, then plain numbers."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recollect.models.faults import ModelDamaged


def read_tensors(data: bytes) -> Mapping[str, NDArray[np.float32]]:
    """Every 32-bit float tensor of the file, by name."""
    try:
        (length,) = struct.unpack_from("<Q", data)
        header = cast("dict[str, dict[str, Any]]", json.loads(data[8 : 8 + length]))
        header.pop("__metadata__", None)
        return {
            name: _tensor(data, 8 + length, entry)
            for name, entry in header.items()
            if entry["dtype"] == "F32"
        }
    except (struct.error, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise ModelDamaged(f"The weights are not a safetensors file: {problem}") from None


def _tensor(data: bytes, begin: int, entry: dict[str, Any]) -> NDArray[np.float32]:
    first, last = entry["data_offsets"]
    flat = np.frombuffer(data, "<f4", count=(last - first) // 4, offset=begin + first)
    return flat.astype(np.float32, copy=False).reshape(entry["shape"])
