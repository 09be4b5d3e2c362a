"""Maps, which are dictionaries in 0-D object arrays, and pairwise coupling."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero import ops
from hetero.core.containers import box
from hetero.core.types import Type
from hetero.reference.registry import Array, evaluates
from hetero.system.allocation import string_array


@evaluates(ops.ZipMap)
def zip_map(node: ops.ZipMap, data: Array, keys: Array) -> Array:
    labels = keys.tolist()
    return box([dict(zip(labels, row)) for row in data.tolist()])


@evaluates(ops.MapToTensor)
def map_to_tensor(node: ops.MapToTensor, mapping: Array, keys: Array | None = None) -> Array:
    values: dict[Any, Any] = mapping.item()
    wanted = sorted(values) if keys is None else keys.tolist()
    if node.element_type is Type.string:
        texts = [_text_of(values[key]) if key in values else node.missing for key in wanted]
        return string_array(texts).reshape(1, -1)
    dtype = node.element_type.to_dtype()
    # From text, whole numbers too, by way of the type of Python that reads all of them exactly.
    read = int if node.element_type.is_integer() else float
    return np.array([[read(values.get(key, 0)) for key in wanted]], dtype)


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:f}" if isinstance(value, float) else str(value)


@evaluates(ops.PairwiseCoupling)
def pairwise_coupling(node: ops.PairwiseCoupling, pairwise: Array) -> Array:
    rows, classes, _ = pairwise.shape
    # The probabilities p minimize pᵀ·Q·p for each row.
    products = -pairwise.transpose(0, 2, 1) * pairwise
    squares = (pairwise**2).sum(axis=1) - np.einsum("nii->ni", pairwise) ** 2
    index = np.arange(classes)
    products[:, index, index] = squares
    result = np.full((rows, classes), 1 / classes, pairwise.dtype)
    left = np.arange(rows)  # the rows that have not converged
    for _ in range(max(100, classes)):
        quadratic, chances = products[left], result[left]
        gradient = np.einsum("nij,nj->ni", quadratic, chances)
        total = (chances * gradient).sum(axis=1)
        is_off = np.abs(gradient - total[:, None]).max(axis=1) >= 0.005 / classes
        if not is_off.any():
            break
        left, quadratic, chances, gradient, total = (
            array[is_off] for array in (left, quadratic, chances, gradient, total)
        )
        for one in index:
            own = quadratic[:, one, one]
            step = (total - gradient[:, one]) / own
            chances[:, one] += step
            scale = 1 + step
            total = (total + step * (step * own + 2 * gradient[:, one])) / scale**2
            gradient = (gradient + step[:, None] * quadratic[:, one]) / scale[:, None]
            chances /= scale[:, None]
        result[left] = chances
    return result
