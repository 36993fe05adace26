"""Unit vectors: checked once when they come in, stored as float32 bytes, compared by dot product."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.errors import EmbeddingDimMismatchError, InvalidInput

Vector: TypeAlias = NDArray[np.float32]  # shape (dimension,), length 1
Matrix: TypeAlias = NDArray[np.float32]  # shape (rows, dimension), every row of length 1

_STORED = np.dtype("<f4")  # the bytes mean the same on every machine


def unit(values: Sequence[float] | Vector, dimension: int | None = None) -> Vector:
    """`values` scaled to length 1, as float32.

    Raises InvalidInput (a ValueError) for a value that is not finite, for nothing at all and for a vector of
    zeros, which points nowhere; EmbeddingDimMismatchError when `dimension` is given and is another one.
    """
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"an embedding is one flat list of numbers ({error})") from error
    if vector.ndim != 1 or vector.size == 0:
        raise InvalidInput(f"an embedding is one flat list of numbers, not of shape {vector.shape}")
    if dimension is not None and vector.size != dimension:
        raise EmbeddingDimMismatchError(dimension, vector.size)
    if not np.isfinite(vector).all():
        raise InvalidInput("an embedding holds a value that is not a finite number")
    largest = float(np.abs(vector).max())
    if largest == 0.0:
        raise InvalidInput("an embedding of zeros points nowhere")
    vector = vector / largest  # squares of very large or very small values would leave float64
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def cosines(rows: Matrix, vector: Vector) -> NDArray[np.float32]:
    """The cosine of every row with `vector`; shape (rows,)."""
    # One product per row and no matrix product: that takes several threads, which wait for one another
    # ten times longer than they work as soon as another process wants a core.
    found: NDArray[np.float32] = np.vecdot(rows, vector)
    return found


def to_bytes(vector: Vector) -> bytes:
    return vector.astype(_STORED, copy=False).tobytes()


def from_bytes(stored: bytes) -> Vector:
    return np.frombuffer(stored, dtype=_STORED).astype(np.float32, copy=False)
