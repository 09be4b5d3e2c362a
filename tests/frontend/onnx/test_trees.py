"""Ensembles of decision trees against ONNX Runtime."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import hetero
from hetero import ops
from hetero.frontend import protobuf
from hetero.frontend.onnx import wire
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.reference import evaluate
from tests.frontend.onnx.compare import run_onnxruntime
from tests.frontend.onnx.test_machine_learning import F32, WHOLE, X, compare, model_of

ALL = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")


def random_trees(modes=("BRANCH_LEQ",), trees=7, seed=0, kind="target", targets=1, sign=0, missing=False):
    """Return attributes of an ensemble of random trees, with weights of one sign, or of both if ``sign`` is 0."""
    rng = np.random.default_rng(seed)
    names = ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids")
    nodes = {name: [] for name in names}
    leaves = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}

    def grow(tree, depth):
        place, index = len(nodes["treeids"]), nodes["treeids"].count(tree)
        is_leaf = depth == 5 or (depth > 1 and rng.random() < 0.3)
        values = (tree, index, int(rng.integers(5)), float(np.round(rng.standard_normal(), 1)),
                  "LEAF" if is_leaf else str(rng.choice(modes)), 0, 0)  # fmt: skip
        for name, value in zip(names, values):
            nodes[name].append(value)
        if is_leaf:
            for target in rng.choice(targets, rng.integers(1, targets + 1), replace=False):
                weight = rng.standard_normal()
                leaf = (tree, index, int(target), float(abs(weight) * sign if sign else weight) / trees)
                for name, value in zip(leaves, leaf):
                    leaves[name].append(value)
        else:
            nodes["truenodeids"][place] = grow(tree, depth + 1)
            nodes["falsenodeids"][place] = grow(tree, depth + 1)
        return index

    for tree in range(trees):
        grow(tree, 0)
    found = {f"nodes_{name}": values for name, values in nodes.items()}
    found |= {f"{kind}_ids" if name == "ids" else f"{kind}_{name}": values for name, values in leaves.items()}
    if missing:
        found["nodes_missing_value_tracks_true"] = rng.integers(0, 2, len(nodes["modes"])).tolist()
    return found


REGRESSORS = {
    "one mode": ({}, {}),
    "all modes": ({"modes": ALL, "targets": 3}, {}),
    "missing values": ({"modes": ALL[:4], "missing": True}, {}),
    "base values": ({"targets": 2}, {"base_values": [1.0, -2.0]}),
    "mean": ({"targets": 2}, {"aggregate_function": "AVERAGE"}),
    "least": ({"targets": 3}, {"aggregate_function": "MIN"}),
    "most": ({"targets": 3, "seed": 2}, {"aggregate_function": "MAX"}),
    "softmax": ({"targets": 3}, {"post_transform": "SOFTMAX"}),
    "logistic": ({"targets": 3}, {"post_transform": "LOGISTIC"}),
    "many trees": ({"trees": 150}, {}),
}


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name):
    shape, attributes = REGRESSORS[name]
    trees = random_trees(**shape)
    rows = np.concatenate([X, np.round(X, 1)])  # values that are splits, too
    compare("TreeEnsembleRegressor", [rows], {"n_targets": shape.get("targets", 1), **trees, **attributes}, 1, opset=3)


CLASSIFIERS = {
    "three classes": ({"targets": 3}, {"classlabels_int64s": [7, 8, 9]}),
    "three classes of strings": ({"targets": 3}, {"classlabels_strings": ["x", "y", "z"]}),
    "softmax": ({"targets": 3}, {"classlabels_int64s": [7, 8, 9], "post_transform": "SOFTMAX"}),
    "softmax of others than zero": (
        {"targets": 3, "trees": 2}, {"classlabels_int64s": [7, 8, 9], "post_transform": "SOFTMAX_ZERO"}),
    "base values": ({"targets": 3}, {"classlabels_int64s": [7, 8, 9], "base_values": [0.5, -0.5, 0.1]}),
    "one score of both signs": ({}, {"classlabels_int64s": [7, 8]}),
    "one logistic score": ({}, {"classlabels_int64s": [7, 8], "post_transform": "LOGISTIC"}),
    "one chance": ({"sign": 1}, {"classlabels_strings": ["no", "yes"]}),
}  # fmt: skip


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name):
    shape, attributes = CLASSIFIERS[name]
    compare("TreeEnsembleClassifier", [X], {**random_trees(kind="class", **shape), **attributes}, 2, opset=3)


def test_whole_numbers():
    trees = random_trees(ALL, kind="class", targets=3)
    compare("TreeEnsembleClassifier", [WHOLE], {"classlabels_int64s": [7, 8, 9], **trees}, 2, opset=1)


def test_binary_classes():
    """ONNX Runtime returns 1 if the second class has any score above 0, else 0, which stand for the labels here."""
    trees = random_trees(kind="class", targets=2, trees=5, sign=1)
    attributes = {"classlabels_int64s": [7, 8], **trees}
    proto = model_of("TreeEnsembleClassifier", [X], attributes, 2, opset=3)
    labels, scores = hetero.Core().compile_model(proto, "TEMPLATE")([X]).values()
    rows = random_trees(targets=2, trees=5, sign=1)
    regressor = model_of("TreeEnsembleRegressor", [X], {"n_targets": 2, **rows}, 1, opset=3)
    np.testing.assert_allclose(scores, hetero.Core().compile_model(regressor, "TEMPLATE")([X])[0])
    np.testing.assert_array_equal(labels, np.where(scores[:, 1] > 0, 8, 7))
    has_second = scores[:, 1] > 0  # without any leaf of it, ONNX Runtime looks at the first class
    np.testing.assert_array_equal(labels[has_second], 7 + run_onnxruntime(proto, {"x0": X})["y0"][has_second])


def as_tensors(attributes, names):
    """Return the attributes, those named as f64 tensors."""
    tensors = {f"{name}_as_tensor": helper.make_tensor(name, TensorProto.DOUBLE, [len(attributes[name])],
                                                       attributes[name]) for name in names}  # fmt: skip
    return {name: value for name, value in attributes.items() if name not in names} | tensors


def test_double_precision():
    trees = as_tensors(random_trees(ALL, trees=20), ("nodes_values", "target_weights"))
    compare("TreeEnsembleRegressor", [X.astype(np.float64)], {"n_targets": 1, **trees}, 1, opset=3)


@pytest.mark.parametrize("aggregate", range(4))
def test_one_table_of_nodes_and_leaves(aggregate):
    """Leaf weights 5.23, 12.12, -12.23, 7.21 below x0 <= 3.14 and in {1.2, 3.7, 8, 9} or {12, 7}."""

    def tensor(values, dtype=F32):
        return onnx.numpy_helper.from_array(np.array(values, dtype))

    nan = np.nan
    attributes = {
        "n_targets": 2, "aggregate_function": aggregate, "tree_roots": [0, 2], "nodes_featureids": [0, 0, 1],
        "nodes_splits": tensor([3.14, 0, 0]), "nodes_modes": tensor([0, 6, 6], np.uint8),
        "nodes_truenodeids": [1, 0, 2], "nodes_falsenodeids": [1, 2, 3], "nodes_trueleafs": [0, 1, 1],
        "nodes_falseleafs": [1, 1, 1], "leaf_targetids": [0, 1, 0, 0],
        "leaf_weights": tensor([5.23, 12.12, -12.23, 7.21]),
        "membership_values": tensor([1.2, 3.7, 8, 9, nan, 12, 7, nan]),
    }  # fmt: skip
    rows = F32([[1.2, 12], [3.5, 3], [2, 7], [nan, 7]])
    compiled = hetero.Core().compile_model(model_of("TreeEnsemble", [rows], attributes, 1, opset=5), "TEMPLATE")
    said = [[5.23, -12.23], [None, 7.21], [-12.23, -12.23], [None, -12.23]]  # of the first target, by the trees
    together = (lambda values: sum(values) / 2, sum, min, max)[aggregate]
    second = [0, 12.12 / 2 if aggregate == 0 else 12.12, 0, 12.12 / 2 if aggregate == 0 else 12.12]
    first = [together([value for value in values if value is not None]) for values in said]
    np.testing.assert_allclose(compiled([rows])[0], np.stack([first, second], axis=1), rtol=1e-6)


def test_a_missing_node_is_refused():
    trees = random_trees()
    trees["target_nodeids"][3] = 99
    proto = model_of("TreeEnsembleRegressor", [X], {"n_targets": 1, **trees}, 1, opset=3)
    with pytest.raises(hetero.HeteroError, match="there is no node 99 in tree 0"):
        hetero.Core().compile_model(proto, "TEMPLATE")


def test_missing_features_are_refused():
    proto = model_of("TreeEnsembleRegressor", [X[:, :2]], {"n_targets": 1, **random_trees()}, 1, opset=3)
    with pytest.raises(hetero.HeteroError, match="data must have 5 features or more"):
        hetero.Core().compile_model(proto, "TEMPLATE")


def test_cycles_are_refused():
    data = [ops.Constant(np.array(values)) for values in ([0], [0.5], [0], [0], [0], [0], [0], [[1.0]])]
    ensemble = ops.TreeEnsemble(ops.Constant(X), *data, ops.Constant(np.zeros((0, 0))))
    with pytest.raises(ValueError, match="the nodes of a tree form a cycle"):
        evaluate(ensemble, [value.node.data for value in ensemble.input_values()])


def test_numbers_are_not_decoded_one_by_one(monkeypatch):
    """Of an ensemble of many nodes, no field of the file is visited for each of them."""
    trees = random_trees(trees=300)
    count = len(trees["nodes_modes"])
    content = model_of("TreeEnsembleRegressor", [X], {"n_targets": 1, **trees}, 1, opset=3).SerializeToString()
    visited = []

    def counted(*arguments):
        for field in protobuf.fields(*arguments):
            visited.append(field)
            yield field

    monkeypatch.setattr(wire, "fields", counted)
    hetero.Core().read_model(content)
    assert count > 5000 and len(visited) < 200


def test_unknown_operators_are_reported_before_trees_are_read(monkeypatch):
    trees = random_trees()
    proto = model_of("TreeEnsembleRegressor", [X], {"n_targets": 1, **trees}, 1, opset=3)
    proto.graph.node.append(helper.make_node("Unknown", ["y0"], ["z"]))
    proto.graph.output.add(name="z")
    monkeypatch.setattr(OnnxNodeContext, "get_array", lambda *arguments: pytest.fail("the trees are read"))
    with pytest.raises(hetero.HeteroError, match="there is no translation of ai.onnx.Unknown"):
        hetero.Core().read_model(proto)


def test_an_unknown_mode_is_refused():
    trees = random_trees()
    trees["nodes_modes"][2] = "BRANCH_NEAR"
    proto = model_of("TreeEnsembleRegressor", [X], {"n_targets": 1, **trees}, 1, opset=3)
    with pytest.raises(hetero.HeteroError, match="nodes_modes must be one of BRANCH_LEQ, .*, LEAF, but is BRANCH_NEAR"):
        hetero.Core().read_model(proto)
