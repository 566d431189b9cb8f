"""Copies of model files whose weights are no usable numbers, as after a bad conversion or a damaged disk."""

from __future__ import annotations

import shutil
from pathlib import Path

import gguf
import numpy as np


def write_damaged(path: Path, source: Path, tensor_part: str, value: float, *, only_last: int = 0) -> Path:
    """Copy the model `source` to `path` with `value` in all F32 tensors whose name contains `tensor_part`, or in their last
    `only_last` values.
    """
    shutil.copy(source, path)
    path.chmod(0o644)
    is_found = False
    for tensor in gguf.GGUFReader(path, "r+").tensors:
        if tensor_part in tensor.name and tensor.tensor_type == gguf.GGMLQuantizationType.F32:
            tensor.data.reshape(-1).view(np.float32)[-only_last:] = value
            is_found = True
    assert is_found
    return path
