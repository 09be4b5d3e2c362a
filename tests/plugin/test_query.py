"""get_supported_nodes: supported operations of a transformed model under the names of the original model."""

import numpy as np

from hetero import Model, Parameter, Type, ops
from hetero.graph import Constant
from hetero.graph.rt_info import copy_rt_info
from hetero.passes import fold_constants
from hetero.plugin import get_supported_nodes


def model() -> Model:
    """Return a model of tanh(relu(x) + sqrt(c)) with a constant c."""
    x = Parameter(Type.f32, [2], name="x")
    weights = ops.Sqrt(Constant(np.float32([1, 4]), name="c"), name="root")
    add = ops.Add(ops.Relu(x, name="relu"), weights, name="add")
    result = Model(ops.Tanh(add, name="tanh"), [x])
    result.results[0].friendly_name = "result"
    return result


def fold(model: Model) -> Model:
    fold_constants(model)
    return model


def fuse(model: Model) -> Model:
    """Replace relu and add by one node, an Exp, as a fusion would do."""
    add = next(node for node in model.get_ordered_ops() if node.friendly_name == "add")
    relu = add.input_value(0).node
    fused = ops.Exp(relu.input_value(0), name="fused")
    copy_rt_info([relu, add], fused)
    add.output(0).replace(fused.output(0))
    return model


def ask(transform, *refused):
    found = get_supported_nodes(
        model(), transform(model()), lambda node: "not that" if node.type_info.name in refused else None, "D"
    )
    assert set(found.values()) <= {"D"}
    return set(found), found.refused


EVERYTHING = {"x", "c", "root", "relu", "add", "tanh", "result"}


def test_everything():
    assert ask(lambda m: m) == (EVERYTHING, {})


def test_inputs_and_outputs_follow_their_neighbors():
    assert ask(lambda m: m, "Tanh") == (EVERYTHING - {"tanh", "result"}, {"tanh": "not that"})
    assert ask(lambda m: m, "Relu") == (EVERYTHING - {"relu", "x"}, {"relu": "not that"})


def test_folded_constants_follow_their_reader():
    assert ask(fold) == (EVERYTHING, {})
    found, refused = ask(fold, "Add")
    assert "root" not in found and "c" not in found
    assert refused == {"add": "not that", "root": "only refused operations read it"}


def test_a_fused_node_stands_for_all_its_operations():
    assert ask(fuse)[0] >= {"relu", "add", "tanh"}
    found, refused = ask(fuse, "Exp")
    assert not {"relu", "add"} & found and refused["relu"] == refused["add"] == "not that"
