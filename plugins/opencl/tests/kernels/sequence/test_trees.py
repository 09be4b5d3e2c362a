"""Decision trees, label encoders and n-grams, compared with ONNX Runtime or the reference."""

import numpy as np
import pytest

import hetero
from hetero import Constant, Parameter, ops
from hetero.reference import evaluate
from tests.frontend.onnx.compare import assert_as_onnxruntime, operator_model
from tests.frontend.onnx.test_machine_learning import WHOLE, X
from tests.frontend.onnx.test_strings import GRAMS, IDS, WEIGHTS
from tests.frontend.onnx.test_trees import ALL, as_tensors, random_trees

ML = "ai.onnx.ml"
ROWS = np.concatenate([X, np.round(X, 1)])  # values that are splits, too


@pytest.mark.parametrize(
    ("shape", "attributes"),
    [
        ({"modes": ALL, "targets": 3}, {}),
        ({"modes": ALL[:4], "missing": True}, {}),
        ({"targets": 2}, {"aggregate_function": "AVERAGE"}),
        ({"targets": 3}, {"aggregate_function": "MIN"}),
        ({"targets": 3, "seed": 2}, {"aggregate_function": "MAX"}),
        ({"trees": 150}, {}),
    ],
)
def test_regressors(device, shape, attributes):
    attributes = {"n_targets": shape.get("targets", 1), **random_trees(**shape), **attributes}
    proto = operator_model("TreeEnsembleRegressor", [ROWS], attributes, 1, ML, 3)
    assert_as_onnxruntime(proto, [ROWS], device=device)


def test_double_precision(device):
    trees, rows = as_tensors(random_trees(ALL, trees=20), ("nodes_values", "target_weights")), X.astype(np.float64)
    proto = operator_model("TreeEnsembleRegressor", [rows], {"n_targets": 1, **trees}, 1, ML, 3)
    assert_as_onnxruntime(proto, [rows], device=device)


def test_integers(device):
    """As the same numbers in f32, since ONNX Runtime does not take these."""
    found = []
    for rows in (WHOLE, WHOLE.astype(np.float32)):
        proto = operator_model("TreeEnsembleRegressor", [rows], {"n_targets": 1, **random_trees(ALL)}, 1, ML, 3)
        found.append(hetero.Core().compile_model(proto, device)([rows])[0])
    np.testing.assert_array_equal(*found, strict=True)


def trees(data, when_true, roots, modes=(6, 0)):
    """Trees of two nodes, the first that of a set, and three leaves."""
    tables = [[0, 1], np.float32([0, 2]), modes, when_true, [-1, -2], [0, 0], roots,
              np.float32([[1, 10], [2, np.nan], [4, np.nan]]), np.float32([[3, 5, np.nan]])]  # fmt: skip
    return ops.TreeEnsemble(data, *(Constant(np.array(table)) for table in tables))


def test_sets(run):
    data = Parameter(hetero.Type.f32, [4, 2])
    rows = np.float32([[3, 2], [5, 3], [4, 0], [np.nan, 0]])
    (found,) = run([trees(data, [1, -3], [0, 1])], [data], [rows])
    np.testing.assert_array_equal(found, [[8, 0], [4, 0], [5, 10], [5, 10]])


def test_invalid_trees(run):
    """The reference raises an error for a cycle. A kernel cannot, but must end and not read out of bounds."""
    data = Parameter(hetero.Type.f32, [1, 2])
    for when_true in ([0, 0], [7, -9]):
        (found,) = run([trees(data, when_true, [0, 9, -7])], [data], [np.float32([[3, 0]])])
        np.testing.assert_array_equal(found, [[0, 0]])
    (found,) = run([trees(data, [1, -3], [1], (6, 6))], [data], [np.float32([[3, 3]])])
    assert found.shape == (1, 2)


@pytest.mark.parametrize("key", ["f32", "f64", "i64", "i16"])
@pytest.mark.parametrize("value", ["f32", "i64", "f64"])
def test_labels(run, key, value):
    keys = np.array([3, -1, 7, 3, 0]).astype(hetero.Type(key).to_dtype())
    data = np.random.default_rng(0).integers(-3, 9, (5, 40)).astype(keys.dtype)
    if keys.dtype.kind == "f":
        keys[2], data[0, 0] = np.nan, np.nan
    values = np.arange(1, 6).astype(hetero.Type(value).to_dtype())
    default = np.array([-9]).astype(values.dtype)
    parameter = Parameter(hetero.Type(key), data.shape)
    (found,) = run([ops.LabelEncoder(parameter, keys, values, default)], [parameter], [data])
    (expected,) = evaluate(ops.LabelEncoder(data, keys, values, default), [data, keys, values, default])
    np.testing.assert_array_equal(found, expected, strict=True)


def test_labels_without_a_default_are_refused(device):
    parameter = Parameter(hetero.Type.i64, [3])
    model = hetero.Model([ops.LabelEncoder(parameter, np.array([1]), np.array([2]))], [parameter])
    with pytest.raises(hetero.HeteroError, match="without a default"):
        hetero.Core().compile_model(model, device)


@pytest.mark.parametrize(
    ("data", "attributes"),
    [
        (IDS, {"mode": "TF", "max_skip_count": 0}),
        (IDS, {"mode": "TF", "max_skip_count": 3}),
        (IDS[1], {"mode": "TF", "max_skip_count": 1}),
        (IDS, {"mode": "IDF", "max_skip_count": 3, **WEIGHTS}),
        (IDS, {"mode": "TFIDF", "max_skip_count": 3, **WEIGHTS}),
        (IDS.astype(np.int32), {"mode": "TF", "max_skip_count": 3}),
    ],
)
def test_n_grams(device, data, attributes):
    proto = operator_model("TfIdfVectorizer", [data], {**GRAMS, **attributes}, 1)
    assert_as_onnxruntime(proto, [data], device=device)
