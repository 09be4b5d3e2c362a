"""Operators of the domain ai.onnx.ml on features and labels, and linear models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.node_context import OnnxNodeContext, translator
from hetero.frontend.onnx.translators.machine_learning.scores import (
    best_labels,
    binary_classes,
    class_labels,
    post_transform,
)
from hetero.frontend.onnx.translators.normalization import divide_by_norm
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import convert_to, int64, rank_of, reshape, scalar_like
from hetero.graph import Constant, Output
from hetero.system.errors import FrontendError

_DOMAIN = "ai.onnx.ml"
# The attribute suffixes of LabelEncoder's keys and values with their numpy types, and its defaults by dtype.kind.
_TABLE_TYPES = {"strings": np.str_, "int64s": np.int64, "floats": np.float32}
_DEFAULTS = {"U": "_Unused", "i": -1, "f": -0.0}


def _vector(node: OnnxNodeContext, name: str) -> Constant:
    return Constant(np.array(node.get_attribute(name), np.float32))


@translator("ArrayFeatureExtractor", domain=_DOMAIN)
def array_feature_extractor(node: OnnxNodeContext) -> Translation:
    features = ops.Gather(node.get_input(0), reshape(node.get_input(1), (-1,)), int64(-1))
    return ops.Unsqueeze(features, int64([0])) if rank_of(node.get_input(0)) == 1 else features


@translator("Binarizer", domain=_DOMAIN)
def binarizer(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    larger = ops.Greater(value, scalar_like(value, node.get_attribute("threshold", 0.0)))
    return ops.Convert(larger, value.element_type)


@translator("Scaler", domain=_DOMAIN)
def scaler(node: OnnxNodeContext) -> Translation:
    value = convert_to(node.get_input(0), Type.f32)
    return ops.Multiply(ops.Subtract(value, _vector(node, "offset")), _vector(node, "scale"))


@translator("Normalizer", domain=_DOMAIN)
def normalizer(node: OnnxNodeContext) -> Translation:
    norms = {"MAX": ops.ReduceMax, "L1": ops.ReduceL1, "L2": ops.ReduceL2}
    value, name = convert_to(node.get_input(0), Type.f32), node.get_attribute("norm", "MAX")
    if name not in norms:
        raise FrontendError(f"norm must be MAX, L1 or L2, but is {name}")
    return divide_by_norm(value, norms[name](value, int64([-1]), True))


@translator("Imputer", domain=_DOMAIN)
def imputer(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    if value.element_type.is_real():
        missing, imputed = node.get_attribute("replaced_value_float", 0.0), node.get_attribute("imputed_value_floats")
    else:
        missing, imputed = node.get_attribute("replaced_value_int64", 0), node.get_attribute("imputed_value_int64s")
    is_missing = ops.IsNaN(value) if np.isnan(missing) else ops.Equal(value, scalar_like(value, missing))
    return ops.Select(is_missing, Constant(np.array(imputed, value.element_type.to_dtype())), value)


@translator("FeatureVectorizer", domain=_DOMAIN)
def feature_vectorizer(node: OnnxNodeContext) -> Translation:
    """Concatenate the inputs as rows, each truncated or padded with zeros to its length in inputdimensions."""
    parts = []
    for value, length in zip(node.get_inputs(), node.get_attribute("inputdimensions")):
        rows = convert_to(reshape(value, (1, -1) if rank_of(value) == 1 else (0, -1)), Type.f32)
        padded = ops.Pad(rows, int64([0, 0]), int64([0, length]), "constant", scalar_like(rows, 0))
        parts.append(ops.Slice(padded, int64([0]), int64([length]), int64([1]), int64([1])))
    return ops.Concat(parts, 1)


def _table(node: OnnxNodeContext, name: str) -> np.ndarray:
    """Return the keys or values of a LabelEncoder. Raises FrontendError if they are missing."""
    if node.has_attribute(f"{name}_tensor"):
        return np.asarray(node.get_attribute(f"{name}_tensor")).reshape(-1)
    for suffix, dtype in _TABLE_TYPES.items():
        if node.has_attribute(f"{name}_{suffix}"):
            return np.array(node.get_attribute(f"{name}_{suffix}"), dtype)
    raise FrontendError(f"attribute {name} is missing")


@translator("LabelEncoder", since=2, domain=_DOMAIN)
def label_encoder(node: OnnxNodeContext) -> Translation:
    values = _table(node, "values")
    kind = values.dtype.kind
    names = ("default_tensor", {"U": "default_string", "i": "default_int64", "f": "default_float"}[kind])
    default = next((node.get_attribute(name) for name in names if node.has_attribute(name)), _DEFAULTS[kind])
    default = np.asarray(default).reshape(-1)[:1].astype(np.str_ if kind == "U" else values.dtype)
    return ops.LabelEncoder(node.get_input(0), _table(node, "keys"), values, default)


@translator("LabelEncoder", domain=_DOMAIN)
def label_encoder_1(node: OnnxNodeContext) -> Translation:
    texts = np.array(node.get_attribute("classes_strings"), np.str_)
    return _encode_or_decode(node, texts, np.arange(texts.size))


@translator("CategoryMapper", domain=_DOMAIN)
def category_mapper(node: OnnxNodeContext) -> Translation:
    texts = np.array(node.get_attribute("cats_strings"), np.str_)
    return _encode_or_decode(node, texts, np.array(node.get_attribute("cats_int64s"), np.int64))


def _encode_or_decode(node: OnnxNodeContext, texts: np.ndarray, numbers: np.ndarray) -> Translation:
    """Map strings to numbers if the input has strings, else numbers to strings."""
    if node.get_input(0).element_type is Type.string:
        default = np.array(node.get_attribute("default_int64", -1), np.int64)
        return ops.LabelEncoder(node.get_input(0), texts, numbers, default)
    default = np.array(node.get_attribute("default_string", "_Unused"), np.str_)
    return ops.LabelEncoder(node.get_input(0), numbers, texts, default)


@translator("OneHotEncoder", domain=_DOMAIN)
def one_hot_encoder(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    if value.element_type is Type.string:
        keys = np.array(node.get_attribute("cats_strings"), np.str_)
    else:
        keys = np.array(node.get_attribute("cats_int64s"), np.int64)
        value = ops.Convert(value, "i64").output(0)
    numbers = np.arange(keys.size)
    default = np.array(-1) if node.get_attribute("zeros", 1) else None  # without a default an unknown category fails
    index = ops.LabelEncoder(value, keys, numbers, default)
    return ops.Convert(ops.Equal(ops.Unsqueeze(index, int64([-1])), Constant(numbers)), "f32")


def _linear(node: OnnxNodeContext, count: int) -> Output:
    """Return features · coefficients + intercepts, ``[rows, count]``."""
    value = node.get_input(0)
    value = convert_to(reshape(value, (1, -1)) if rank_of(value) == 1 else value, Type.f32)
    coefficients = np.array(node.get_attribute("coefficients"), np.float32).reshape(count, -1)
    intercepts: Sequence[float] = node.get_attribute("intercepts", ()) or (0.0,) * count
    products = ops.MatMul(value, Constant(coefficients), False, True)
    return ops.Add(products, Constant(np.array(intercepts, np.float32))).output(0)


@translator("LinearRegressor", domain=_DOMAIN)
def linear_regressor(node: OnnxNodeContext) -> Translation:
    return post_transform(_linear(node, node.get_attribute("targets", 1)), node.get_attribute("post_transform", "NONE"))


@translator("LinearClassifier", domain=_DOMAIN)
def linear_classifier(node: OnnxNodeContext) -> Translation:
    labels = class_labels(node, "classlabels_ints")
    transform = node.get_attribute("post_transform", "NONE")
    count = len(node.get_attribute("intercepts", ())) or len(labels)
    scores = _linear(node, count)
    if count == 1:
        return binary_classes(scores, labels, transform, 0, is_probability=transform == "NONE")
    return best_labels(scores, labels), post_transform(scores, transform)
