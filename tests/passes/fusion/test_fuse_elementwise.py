"""Fusion of element-wise operations with each other and with the operation before them."""

import numpy as np
import pytest

from hetero import Constant, Core, Model, Parameter, Type, ops
from hetero.graph import is_terminal
from hetero.passes import FusionRules, fuse_elementwise

GENERATOR = np.random.default_rng(0)
UNARY_OR_BINARY = (ops.Add, ops.Multiply, ops.Relu, ops.Sigmoid, ops.Exp, ops.Convert)
RULES = FusionRules(
    is_elementwise=lambda node: isinstance(node, UNARY_OR_BINARY),
    takes_epilogue=lambda anchor, group: isinstance(anchor, ops.Convolution),
)


def numbers(*shape):
    return GENERATOR.standard_normal(shape).astype(np.float32)


def constant(*shape):
    return Constant(numbers(*shape))


def convolution(x, channels, name="convolution"):
    return ops.Convolution(x, constant(channels, x.shape[1], 3, 3), [1, 1], [1, 1], [1, 1], [1, 1], name=name)


def parameter(channels=3, name="x"):
    return Parameter(Type.f32, (1, channels, 5, 6), name=name)


def fused(outputs, parameters, rules=RULES):
    """Fuse a model, check that TEMPLATE computes the same as before, and return what each Fused node has."""
    model = Model(outputs, parameters)
    feeds = [numbers(*one.shape) for one in parameters]
    expected = Core().compile_model(model, "TEMPLATE")(feeds).to_tuple()
    assert fuse_elementwise(model, rules)
    for found, wanted in zip(Core().compile_model(model, "TEMPLATE")(feeds).to_tuple(), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
    nodes = [node for node in model.get_ordered_ops() if isinstance(node, ops.Fused)]
    return {node.friendly_name: [one.type_info.name for one in node.operations] for node in nodes}


def test_a_chain_becomes_the_epilogue_of_the_anchor_before_it():
    x = parameter()
    chain = ops.Relu(ops.Add(convolution(x, 4), constant(1, 4, 1, 1)))
    assert fused([chain], [x]) == {"convolution": ["Convolution", "Add", "Relu"]}


def test_the_last_of_two_anchors_takes_their_sum():
    x = parameter()
    first = convolution(x, 4, "first")
    second = convolution(first, 4, "second")
    total = ops.Relu(ops.Add(ops.Exp(first), second))
    groups = fused([total, ops.ReduceSum(first, Constant(np.array(1)))], [x])
    assert groups == {"second": ["Exp", "Convolution", "Add", "Relu"]}


def test_values_with_other_readers_stay():
    x = parameter()
    result = convolution(x, 4)
    rectified = ops.Relu(result, name="rectified")
    groups = fused([rectified, result], [x])
    assert groups == {"rectified": ["Relu"]}


def test_a_group_that_reads_the_anchor_twice():
    x = parameter()
    result = convolution(x, 4)
    assert fused([ops.Multiply(result, ops.Sigmoid(result))], [x]) == {
        "convolution": ["Convolution", "Sigmoid", "Multiply"]
    }


def test_values_of_another_shape_are_not_joined():
    x, y = parameter(), Parameter(Type.f32, (1, 3, 1, 1), name="y")
    result = ops.Multiply(x, ops.Sigmoid(y, name="gate"), name="scaled")
    assert fused([result], [x, y]) == {"gate": ["Sigmoid"], "scaled": ["Multiply"]}


@pytest.mark.parametrize(("limits", "sizes"), [({"max_nodes": 3}, [3, 3, 1]), ({"max_inputs": 2}, [1] * 7)])
def test_limits(limits, sizes):
    x, others = parameter(), [parameter(name=f"x{index}") for index in range(7)]
    value = x
    for other in others:
        value = ops.Add(value, other)
    rules = FusionRules(RULES.is_elementwise, **limits)
    assert sorted(map(len, fused([value], [x, *others], rules).values()), reverse=True) == sizes


def test_prologues():
    x = Parameter(Type.f32, (2, 3), name="x")
    product = ops.MatMul(ops.Convert(x, Type.f64, name="wide"), Constant(np.ones((3, 4))), False, False, name="product")
    rules = FusionRules(
        RULES.is_elementwise,
        takes_epilogue=lambda anchor, group: isinstance(anchor, ops.MatMul),
        prologue=lambda node: [node.input_value(0).node] if isinstance(node, ops.MatMul) else [],
    )
    model = Model([ops.Relu(product)], [x])
    fuse_elementwise(model, rules)
    (node,) = [node for node in model.get_ordered_ops() if not is_terminal(node)]
    assert [one.type_info.name for one in node.prologue] == ["Convert"]
    assert [one.type_info.name for one in node.epilogue] == ["Relu"]
    assert node.anchor.friendly_name == "product"


def test_names_of_outputs_and_original_names_are_kept():
    x = parameter()
    last = ops.Relu(convolution(x, 4), name="last")
    last.output(0).add_names({"tensor"})
    model = Model([last], [x])
    fuse_elementwise(model, RULES)
    source = model.results[0].input_value(0)
    assert source.names == {"tensor"}
    assert source.node.rt_info["originalLayersNames"] == ("convolution", "last")


def test_a_copy_has_its_own_body():
    x = parameter()
    model = Model([ops.Relu(convolution(x, 4))], [x])
    fuse_elementwise(model, RULES)
    first, second = (
        next(node for node in one.get_ordered_ops() if isinstance(node, ops.Fused)) for one in (model, model.clone())
    )
    assert second.anchor in second.operations and first.anchor is not second.anchor
    assert [node.type_info.name for node in second.epilogue] == ["Relu"]
