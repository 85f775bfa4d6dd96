"""Weights are read out of safetensors files."""

from __future__ import annotations

import json
import struct

import numpy as np

from training.tensors import read_tensors


def safetensors(tensors: dict[str, np.ndarray]) -> bytes:
    kinds = {"float32": "F32", "int64": "I64"}
    header, body = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in tensors.items():
        header[name] = {
            "dtype": kinds[tensor.dtype.name],
            "shape": list(tensor.shape),
            "data_offsets": [len(body), len(body) + tensor.nbytes],
        }
        body += tensor.tobytes()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def test_float_tensors_come_out_by_name_and_shape():
    weight = np.arange(6, dtype=np.float32).reshape(2, 3)
    ids = np.arange(4, dtype=np.int64)

    tensors = read_tensors(safetensors({"position_ids": ids, "weight": weight}))

    assert list(tensors) == ["weight"]
    np.testing.assert_array_equal(tensors["weight"], weight)
