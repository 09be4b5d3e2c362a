"""Reading of an ensemble of trees of 5 MB, against ONNX Runtime."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

import hetero
from tests.benchmarks.interleaved import Comparison, interleave

ROUNDS = 5
# Trees of 1,023 nodes each.
TREES, DEPTH, FEATURES = 150, 9, 10


def compare() -> Iterator[Comparison]:
    """Compare reading an ensemble of trees with ONNX Runtime, which also compiles it."""
    content = trees()
    candidates = {
        "onnxruntime": lambda: onnxruntime.InferenceSession(content),
        "hetero": lambda: hetero.Core().read_model(content),
    }
    yield interleave(f"reading trees of {len(content) / 1e6:.1f} MB", candidates, ROUNDS)


def trees() -> bytes:
    """Return a serialized model with an ensemble of complete trees with random splits."""
    rng = np.random.default_rng(0)
    count = 2 ** (DEPTH + 1) - 1
    nodes = np.tile(np.arange(count), TREES)
    is_leaf = 2 * nodes + 1 >= count
    ids = np.repeat(np.arange(TREES), count)
    attributes = {
        "nodes_treeids": ids, "nodes_nodeids": nodes,
        "nodes_featureids": np.where(is_leaf, 0, rng.integers(0, FEATURES, nodes.size)),
        "nodes_values": np.where(is_leaf, 0, rng.standard_normal(nodes.size)),
        "nodes_modes": np.where(is_leaf, "LEAF", "BRANCH_LEQ"), "nodes_hitrates": np.ones(nodes.size),
        "nodes_truenodeids": np.where(is_leaf, 0, 2 * nodes + 1),
        "nodes_falsenodeids": np.where(is_leaf, 0, 2 * nodes + 2),
        "nodes_missing_value_tracks_true": np.zeros(nodes.size, int),
        "target_treeids": ids[is_leaf], "target_nodeids": nodes[is_leaf], "target_ids": np.zeros(is_leaf.sum(), int),
        "target_weights": rng.standard_normal(is_leaf.sum()),
    }  # fmt: skip
    lists = {name: values.tolist() for name, values in attributes.items()}
    node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=1, **lists)
    infos = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, size]) for name, size in (("x", 10), ("y", 1))
    ]
    graph = helper.make_graph([node], "trees", infos[:1], infos[1:])
    domains = [helper.make_opsetid("ai.onnx.ml", 1), helper.make_opsetid("", 9)]
    return helper.make_model(graph, opset_imports=domains, ir_version=8).SerializeToString()
