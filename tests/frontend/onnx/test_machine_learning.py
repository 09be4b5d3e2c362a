"""Operators of the domain ai.onnx.ml against ONNX Runtime."""

import numpy as np
import onnx
import pytest

import hetero
from tests.frontend.onnx.compare import assert_as_onnxruntime, operator_model

RNG = np.random.default_rng(0)
F32 = np.float32
X = RNG.standard_normal((40, 5)).astype(F32)
X[3, 2] = X[7, 0] = np.nan
KNOWN = np.nan_to_num(X)
WHOLE = RNG.integers(-4, 5, (12, 5))
WORDS = np.array([["a", "b"], ["c", "a"], ["nobody", "b"]], object)
PICK = np.array([3, 0, 3], np.int64)


def tensor(*values, dtype=np.float64):
    return onnx.numpy_helper.from_array(np.array(values, dtype))


LINEAR = {"coefficients": RNG.standard_normal(15).tolist(), "intercepts": [0.1, -0.2, 0.3]}
ONE = {"coefficients": RNG.standard_normal(5).tolist(), "intercepts": [0.1]}
CASES = {
    "extract": ("ArrayFeatureExtractor", [X, PICK], {}, 1),
    "extract strings": ("ArrayFeatureExtractor", [WORDS, np.array([1], np.int64)], {}, 1),
    "extract of a vector": ("ArrayFeatureExtractor", [X[0], PICK], {}, 1),
    "binarize": ("Binarizer", [KNOWN], {"threshold": 0.4}, 1),
    "scale": ("Scaler", [X], {"offset": [0.1, 0.2, 0.3, 0.4, 0.5], "scale": [1.0, 2.0, 3.0, 4.0, 5.0]}, 1),
    "scale whole numbers": ("Scaler", [WHOLE], {"offset": [0.5], "scale": [2.0]}, 1),
    "largest": ("Normalizer", [np.abs(KNOWN)], {"norm": "MAX"}, 1),
    "sum": ("Normalizer", [KNOWN * [[1.0]] * np.float32(1)], {"norm": "L1"}, 1),
    "norm of whole numbers": ("Normalizer", [WHOLE], {"norm": "L2"}, 1),
    "impute NaN": ("Imputer", [X], {"imputed_value_floats": [9.0], "replaced_value_float": float("nan")}, 1),
    "impute by feature": (
        "Imputer", [WHOLE], {"imputed_value_int64s": [1, 2, 3, 4, 5], "replaced_value_int64": -1}, 1),
    "features": ("FeatureVectorizer", [KNOWN, KNOWN[:, :2]], {"inputdimensions": [5, 2]}, 1),
    "labels of strings": (
        "LabelEncoder", [WORDS], {"keys_strings": ["a", "b", "c"], "values_int64s": [7, 8, 9], "default_int64": -3}, 1),
    "strings of numbers": ("LabelEncoder", [WHOLE], {"keys_int64s": [1, 2], "values_strings": ["one", "two"]}, 1),
    "categories of strings": (
        "CategoryMapper", [WORDS], {"cats_strings": ["c", "a"], "cats_int64s": [4, 5], "default_int64": -7}, 1),
    "categories of numbers": (
        "CategoryMapper", [WHOLE], {"cats_strings": ["c", "a"], "cats_int64s": [4, -2], "default_string": "?"}, 1),
    "one-hot": ("OneHotEncoder", [WHOLE], {"cats_int64s": [-1, 0, 3]}, 1),
    "one-hot strings": ("OneHotEncoder", [WORDS], {"cats_strings": ["a", "b"]}, 1),
    "one-hot of floats": ("OneHotEncoder", [WHOLE.astype(F32)], {"cats_int64s": [-1, 0, 3], "zeros": 1}, 1),
    "regressor": ("LinearRegressor", [KNOWN], {"targets": 3, **LINEAR}, 1),
    "logistic regressor": ("LinearRegressor", [KNOWN], {"targets": 3, **LINEAR, "post_transform": "LOGISTIC"}, 1),
    **{f"classifier, {name}": (
        "LinearClassifier", [KNOWN], {"classlabels_ints": [4, 5, 6], "post_transform": name, **LINEAR}, 2)
       for name in ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO")},
    "classifier of strings": ("LinearClassifier", [KNOWN], {"classlabels_strings": ["x", "y", "z"], **LINEAR}, 2),
    "classifier of whole numbers": ("LinearClassifier", [WHOLE], {"classlabels_ints": [4, 5, 6], **LINEAR}, 2),
    **{f"two classes, {name}": (
        "LinearClassifier", [KNOWN], {"classlabels_ints": [4, 5], "post_transform": name, **ONE}, 2)
       for name in ("NONE", "LOGISTIC")},
}  # fmt: skip


def model_of(kind, inputs, attributes, outputs, opset=2):
    return operator_model(kind, inputs, attributes, outputs, "ai.onnx.ml", opset)


def compare(kind, inputs, attributes, outputs, opset=2, tolerance=1e-5):
    assert_as_onnxruntime(model_of(kind, inputs, attributes, outputs, opset), inputs, tolerance)


@pytest.mark.parametrize("name", CASES)
def test_as_onnxruntime(name):
    compare(*CASES[name])


@pytest.mark.parametrize("kind", ["strings", "numbers"])
def test_label_encoder_of_version_1(kind):
    data = WORDS if kind == "strings" else np.array([1, 0, 7], np.int64)
    compare("LabelEncoder", [data], {"classes_strings": ["b", "a"], "default_int64": -5}, 1, opset=1)


def test_label_encoder_of_tensors():
    keys, values = tensor(-1, 2, dtype=np.int16), tensor(0.5, 2.5)
    data = np.array([2, -1, 3], np.int16)
    proto = model_of("LabelEncoder", [data], {"keys_tensor": keys, "values_tensor": values}, 1, opset=4)
    found = hetero.Core().compile_model(proto, "TEMPLATE")([data])[0]
    assert (found.dtype, found.tolist()) == (np.float64, [2.5, 0.5, 0.0])


def test_nan_is_a_key():
    """By the specification; ONNX Runtime supports only the newer version."""
    keys, values = [float("nan"), 1.0], [5.0, 6.0]
    attributes = {"keys_floats": keys, "values_floats": values, "default_float": 1.5}
    compare("LabelEncoder", [X], attributes, 1, opset=4)
    found = hetero.Core().compile_model(model_of("LabelEncoder", [X], attributes, 1), "TEMPLATE")([X])[0]
    assert found[3, 2] == found[7, 0] == 5


def test_a_regressor_of_one_target_has_a_transform():
    """ONNX Runtime ignores it in this case."""
    attributes = {"targets": 1, **ONE, "post_transform": "LOGISTIC"}
    found = hetero.Core().compile_model(model_of("LinearRegressor", [KNOWN], attributes, 1), "TEMPLATE")([KNOWN])[0]
    sums = KNOWN @ np.array(ONE["coefficients"])[:, None] + 0.1
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-sums)), rtol=1e-5)


def test_the_last_of_equal_keys_is_used():
    attributes = {"keys_strings": ["a", "b", "a"], "values_int64s": [7, 8, 9]}
    found = hetero.Core().compile_model(model_of("LabelEncoder", [WORDS], attributes, 1), "TEMPLATE")([WORDS])[0]
    assert found.tolist() == [[9, 8], [-1, 9], [-1, 8]]


def test_probit_is_the_inverse_of_the_normal_distribution():
    chances = np.array([[0.1], [0.5], [0.975]], F32)
    attributes = {"targets": 1, "coefficients": [1.0], "intercepts": [0.0], "post_transform": "PROBIT"}
    found = hetero.Core().compile_model(model_of("LinearRegressor", [chances], attributes, 1), "TEMPLATE")([chances])[0]
    np.testing.assert_allclose(found, [[-1.2816], [0], [1.96]], atol=5e-3)


def test_unknown_categories_are_an_error_with_zeros_0():
    attributes = {"cats_strings": ["a", "b"], "zeros": 0}
    compiled = hetero.Core().compile_model(model_of("OneHotEncoder", [WORDS], attributes, 1), "TEMPLATE")
    with pytest.raises((hetero.HeteroError, ValueError), match="no label is known for"):
        compiled([WORDS])
