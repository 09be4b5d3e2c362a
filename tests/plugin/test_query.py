"""query_model's helper: what a transformed model supports, told under the names of the original one."""

import numpy as np

from hetero import Model, Parameter, Type, ops
from hetero.graph import Constant
from hetero.graph.runtime_info import copy_runtime_info
from hetero.passes import fold_constants
from hetero.plugin import get_supported_nodes


def model() -> Model:
    """tanh(relu(x) + w), and w is the root of a constant."""
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
    """relu and add become one node of another name, an Exp for want of a better one."""
    add = next(node for node in model.get_ordered_ops() if node.friendly_name == "add")
    relu = add.input_value(0).node
    fused = ops.Exp(relu.input_value(0), name="fused")
    copy_runtime_info([relu, add], fused)
    add.output(0).replace(fused.output(0))
    return model


def ask(transform, *refused):
    found = get_supported_nodes(
        model(), transform, lambda node: "not that" if node.type_info.name in refused else None, "D"
    )
    assert set(found.values()) <= {"D"}
    return set(found), found.refused


EVERYTHING = {"x", "c", "root", "relu", "add", "tanh", "result"}


def test_everything():
    assert ask(lambda m: m) == (EVERYTHING, {})


def test_the_ends_go_with_their_neighbours():
    assert ask(lambda m: m, "Tanh") == (EVERYTHING - {"tanh", "result"}, {"tanh": "not that"})
    assert ask(lambda m: m, "Relu") == (EVERYTHING - {"relu", "x"}, {"relu": "not that"})


def test_what_is_folded_away_goes_with_its_reader():
    assert ask(fold) == (EVERYTHING, {})
    found, refused = ask(fold, "Add")
    assert "root" not in found and "c" not in found
    assert refused == {"add": "not that", "root": "only refused operations read it"}


def test_a_fused_node_answers_for_all_that_it_came_from():
    assert ask(fuse)[0] >= {"relu", "add", "tanh"}
    found, refused = ask(fuse, "Exp")
    assert not {"relu", "add"} & found and refused["relu"] == refused["add"] == "not that"
