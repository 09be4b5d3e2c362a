"""Operators of ONNX's machine learning, but for trees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.onnx.translators.scores import class_labels, post_transform, two_classes
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, rank_of, reshape, scalar_like
from hetero.graph import Constant, Output
from hetero.types import Type

_DOMAIN = "ai.onnx.ml"
_KINDS = {"strings": np.str_, "int64s": np.int64, "floats": np.float32}
_DEFAULTS = {"U": "_Unused", "i": -1, "f": -0.0}


def _single(value: Output) -> Output:
    """The value as f32, of which the results are."""
    return value if value.element_type is Type.f32 else ops.Convert(value, "f32").output(0)


def _vector(node: OnnxNodeContext, name: str) -> Constant:
    return Constant(np.array(node.get_attribute(name), np.float32))


@translator("ArrayFeatureExtractor", domain=_DOMAIN)
def array_feature_extractor(node: OnnxNodeContext) -> Translation:
    picked = ops.Gather(node.get_input(0), reshape(node.get_input(1), (-1,)), int64(-1))
    return ops.Unsqueeze(picked, int64([0])) if rank_of(node.get_input(0)) == 1 else picked


@translator("Binarizer", domain=_DOMAIN)
def binarizer(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    larger = ops.Greater(value, scalar_like(value, node.get_attribute("threshold", 0.0)))
    return ops.Convert(larger, value.element_type)


@translator("Scaler", domain=_DOMAIN)
def scaler(node: OnnxNodeContext) -> Translation:
    return ops.Multiply(ops.Subtract(_single(node.get_input(0)), _vector(node, "offset")), _vector(node, "scale"))


@translator("Normalizer", domain=_DOMAIN)
def normalizer(node: OnnxNodeContext) -> Translation:
    value, norm = _single(node.get_input(0)), node.get_attribute("norm", "MAX")
    axis = int64([-1])
    if norm == "MAX":
        size = ops.ReduceMax(value, axis, True)
    elif norm == "L1":
        size = ops.ReduceL1(value, axis, True)
    elif norm == "L2":
        size = ops.ReduceL2(value, axis, True)
    else:
        raise FrontendError(f"norm {norm} is not known")
    none = ops.Equal(size, scalar_like(value, 0))
    return ops.Divide(value, ops.Select(none, scalar_like(value, 1), size))


@translator("Imputer", domain=_DOMAIN)
def imputer(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    if value.element_type.is_real():
        missing, instead = node.get_attribute("replaced_value_float", 0.0), node.get_attribute("imputed_value_floats")
    else:
        missing, instead = node.get_attribute("replaced_value_int64", 0), node.get_attribute("imputed_value_int64s")
    is_missing = ops.IsNaN(value) if np.isnan(missing) else ops.Equal(value, scalar_like(value, missing))
    return ops.Select(is_missing, Constant(np.array(instead, value.element_type.to_dtype())), value)


@translator("FeatureVectorizer", domain=_DOMAIN)
def feature_vectorizer(node: OnnxNodeContext) -> Translation:
    """Each input flattened to rows, cut or filled up with zeros to its length, and all side by side."""
    parts = []
    for value, length in zip(node.get_inputs(), node.get_attribute("inputdimensions")):
        rows = _single(reshape(value, (1, -1)) if rank_of(value) == 1 else reshape(value, (0, -1)))
        padded = ops.Pad(rows, int64([0, 0]), int64([0, length]), "constant", scalar_like(rows, 0))
        parts.append(ops.Slice(padded, int64([0]), int64([length]), int64([1]), int64([1])))
    return ops.Concat(parts, 1)


def _table(node: OnnxNodeContext, name: str) -> np.ndarray:
    """The keys or values of a LabelEncoder."""
    if node.has_attribute(f"{name}_tensor"):
        return np.asarray(node.get_attribute(f"{name}_tensor")).reshape(-1)
    for kind, dtype in _KINDS.items():
        if node.has_attribute(f"{name}_{kind}"):
            return np.array(node.get_attribute(f"{name}_{kind}"), dtype)
    raise FrontendError(f"it has no {name}")


@translator("LabelEncoder", since=2, domain=_DOMAIN)
def label_encoder(node: OnnxNodeContext) -> Translation:
    values = _table(node, "values")
    kind = values.dtype.kind
    names = ("default_tensor", {"U": "default_string", "i": "default_int64", "f": "default_float"}[kind])
    default = next((node.get_attribute(name) for name in names if node.has_attribute(name)), _DEFAULTS[kind])
    default = np.asarray(default).reshape(-1)[:1].astype(np.str_ if kind == "U" else values.dtype)
    return ops.LabelEncoder(node.get_input(0), _table(node, "keys"), values, default)


@translator("LabelEncoder", domain=_DOMAIN)
def label_encoder_of_strings(node: OnnxNodeContext) -> Translation:
    return _between(node, np.array(node.get_attribute("classes_strings"), np.str_), None)


@translator("CategoryMapper", domain=_DOMAIN)
def category_mapper(node: OnnxNodeContext) -> Translation:
    texts = np.array(node.get_attribute("cats_strings"), np.str_)
    return _between(node, texts, np.array(node.get_attribute("cats_int64s"), np.int64))


def _between(node: OnnxNodeContext, texts: np.ndarray, numbers: np.ndarray | None) -> Translation:
    """Numbers of texts, or texts of numbers, by what the input is."""
    numbers = np.arange(texts.size) if numbers is None else numbers
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
    default = np.array(-1) if node.get_attribute("zeros", 1) else None  # without, what is no category is an error
    index = ops.LabelEncoder(value, keys, numbers, default)
    return ops.Convert(ops.Equal(ops.Unsqueeze(index, int64([-1])), Constant(numbers)), "f32")


def _linear(node: OnnxNodeContext, count: int) -> Output:
    """The sums ``[rows, count]`` of features by coefficients, and intercepts."""
    value = node.get_input(0)
    value = _single(reshape(value, (1, -1)) if rank_of(value) == 1 else value)
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
        return two_classes(scores, labels, transform, 0, is_chance=transform == "NONE")
    best = ops.TopK(scores, int64(1), 1, "max", "value", "i64").output(1)
    label = ops.Gather(Constant(labels), ops.Squeeze(best, int64([1])), int64(0))
    return label.output(0), post_transform(scores, transform)
