"""Numbers and tensors as text."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.packing import as_numbers
from hetero.reference.registry import Array, evaluates
from hetero.system.allocation import string_array

_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", '"': r"\"", "'": r"\'", "\\": r"\\"}


@evaluates(ops.FormatNumber)
def format_number(node: ops.FormatNumber, data: Array) -> Array:
    numbers = as_numbers(data)
    if numbers.dtype.kind not in "iu":
        numbers = numbers.astype(np.float64)
    # As in C, zeros are no padding for infinity and NaN.
    others = node.format.replace("%0", "%")
    texts = [(node.format if math.isfinite(number) else others) % number for number in numbers.reshape(-1).tolist()]
    return string_array(texts).reshape(data.shape)


@evaluates(ops.StringFormat)
def string_format(node: ops.StringFormat, *inputs: Array) -> Array:
    first, *others = node.template.split(node.placeholder)
    texts = [summarized(as_numbers(array), node.summarize) for array in inputs]
    return np.array("".join([first, *(part for pair in zip(texts, others) for part in pair)]), np.str_)


def summarized(array: Array, limit: int) -> str:
    """Return the text of an array, with up to ``limit`` elements at both ends of each axis, all if it is negative."""
    limit = array.size if limit < 0 else min(limit, array.size)
    if not limit and array.dtype == bool:
        return ""  # As in TensorFlow, unlike other element types.
    if not array.ndim:
        return _element(array[()]) if limit else "..."
    return _rows(array, limit, 1)


def _rows(array: Array, limit: int, depth: int) -> str:
    """Return the text of an array. ``depth``: the number of brackets that are open within its own."""
    inner = [_element(one) if array.ndim == 1 else _rows(one, limit, depth + 1) for one in _ends(array, limit)]
    spacing = "\n" * (array.ndim - 1) + " " * (1 if array.ndim == 1 else depth)
    if len(array) > 2 * limit:
        inner.insert(limit, "...")
    text = spacing.join(inner)
    return f"[{'' if limit or not inner else spacing}{text}]"


def _ends(array: Array, limit: int) -> list[Any]:
    """Return the elements at both ends of the first axis."""
    return [*array[:limit], *array[max(limit, len(array) - limit) :]]


def _element(one: Any) -> str:
    kind = np.asarray(one).dtype
    if kind.kind == "U":
        return '"' + re.sub(r"[\x00-\x1f\"'\\\x7f]", _escaped, str(one)) + '"'
    if kind.kind == "b" or kind.kind in "iu":
        return str(int(one))
    # As many digits as are needed to read the number again: the usual ones or three more, two for f64.
    usual, exact = ("%.15g", "%.17g") if kind == np.float64 else ("%.6g", "%.9g")
    number, text = float(one), usual % float(one)
    read = np.float64(text) if kind == np.float64 else np.float32(text)
    return text if read == number or math.isnan(number) else exact % number


def _escaped(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0], f"\\{ord(match[0]):03o}")
