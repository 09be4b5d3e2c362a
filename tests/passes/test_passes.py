"""Passes keep the results of a model, and ensure what their docstrings state."""

import numpy as np
import pytest

from hetero import Model, Parameter, PartialShape, Type, ops
from hetero.graph import Constant, Result, is_terminal
from hetero.graph.rt_info import original_names
from hetero.passes import fold_batch_norm, fold_constants, make_names_unique, shape_deciding_parameters, specialize
from hetero.reference import evaluate
from tests import zoo

rng = np.random.default_rng(3)


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def run(model: Model, *arrays: np.ndarray) -> list[np.ndarray]:
    """Return the results of a model in the reference implementation."""
    values = dict(zip(model.inputs, arrays, strict=True))
    for node in model.get_ordered_ops():
        if isinstance(node, Constant):
            values[node.output(0)] = node.data
        elif isinstance(node, Result):
            values[node.output(0)] = values[node.input_value(0)]
        elif not isinstance(node, Parameter):
            values.update(zip(node.outputs(), evaluate(node, [values[v] for v in node.input_values()])))
    return [values[output] for output in model.outputs]


def operations(model: Model) -> list[str]:
    return [n.type_info.name for n in model.get_ordered_ops() if not is_terminal(n)]


def test_folded_constants_keep_their_names():
    x = Parameter(Type.f32, [2])
    doubled = ops.Multiply(np.float32([1, 2]), np.float32(2), name="doubled")
    model = Model(ops.Add(x, ops.Sqrt(doubled, name="root")), [x])
    assert fold_constants(model) and operations(model) == ["Add"]
    constant = next(n for n in model.get_ordered_ops() if n.friendly_name == "root")
    np.testing.assert_allclose(constant.data, np.sqrt([2, 4]), rtol=1e-6)
    assert original_names(constant) == ("root",)
    assert not fold_constants(model)


def test_static_shapes_are_folded():
    x = Parameter(Type.f32, [2, 3, 4])
    flat = ops.Concat([ops.Gather(ops.ShapeOf(x), np.int64([0]), np.int64(0)), np.int64([-1])], 0)
    model = Model(ops.Reshape(x, flat, False), [x])
    assert fold_constants(model) and operations(model) == ["Reshape"]
    assert model.outputs[0].shape == (2, 12)


def test_a_folded_output_of_a_split_keeps_its_type():
    x = Parameter(Type.f32, [-1, 3])
    rows, columns = ops.Split(ops.ShapeOf(x, "i32"), np.int64(0), 2).outputs()
    model = Model([ops.Add(rows, np.int32([1])), ops.Add(columns, np.int32([1]))], [x])
    assert fold_constants(model) and operations(model) == ["ShapeOf", "Split", "Add"]
    assert [output.element_type for output in model.outputs] == [Type.i32, Type.i32]
    assert [array.tolist() for array in run(model, floats(5, 3))] == [[6], [4]]


def test_a_constant_that_would_grow_is_not_folded():
    x = Parameter(Type.f32, [1])
    model = Model(ops.Add(x, ops.Broadcast(np.float32([1]), np.int64([1 << 20]))), [x])
    fold_constants(model)
    assert operations(model) == ["Broadcast", "Add"]


def test_an_operation_that_raises_is_not_folded():
    x = Parameter(Type.f32, [2])
    model = Model([ops.Relu(x), ops.Divide(np.int32([1]), np.int32([0]))], [x])
    fold_constants(model)  # does not raise


def convolution(x, channels=5, groups=1):
    if groups > 1:
        return ops.GroupConvolution(x, floats(groups, 2, 1, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1], name="conv")
    return ops.Convolution(x, floats(channels, 3, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1], name="conv")


def normalized(x, channels):
    vectors = [floats(channels), floats(channels), floats(channels), np.abs(floats(channels)) + 0.5]
    return ops.BatchNormInference(x, *vectors, 1e-3, name="norm")


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (lambda y: normalized(y, 5), ["Convolution", "Add"]),
        (lambda y: ops.Multiply(ops.Add(y, floats(1, 5, 1, 1)), floats(5, 1, 1)), ["Convolution", "Add"]),
        (lambda y: ops.Add(np.float32(2), ops.Multiply(np.float32(3), y)), ["Convolution", "Add"]),
        (lambda y: ops.Relu(normalized(y, 5)), ["Convolution", "Add", "Relu"]),
        (lambda y: ops.Add(y, floats(1, 5, 1, 1)), ["Convolution", "Add"]),
        (lambda y: ops.Multiply(y, floats(1, 5, 4, 4)), ["Convolution", "Multiply"]),
        (lambda y: ops.Multiply(y, ops.Relu(y)), ["Convolution", "Relu", "Multiply"]),
        (lambda y: ops.Multiply(y, floats(2, 5, 4, 4)), ["Convolution", "Multiply"]),
    ],
    ids=["norm", "shift-scale", "numbers", "relu", "bias", "per-element", "two readers", "broadcast"],
)
def test_scales_and_shifts_are_folded_into_the_convolution(after, expected):
    x = Parameter(Type.f32, [1, 3, 4, 4])
    model = Model(after(convolution(x)), [x])
    image = floats(1, 3, 4, 4)
    (before,) = run(model, image)
    fold_batch_norm(model)
    assert operations(model) == expected
    np.testing.assert_allclose(run(model, image)[0], before, rtol=1e-4, atol=1e-4)
    assert not fold_batch_norm(model)


def test_batch_norm_is_folded_into_a_group_convolution_and_keeps_its_name():
    x = Parameter(Type.f32, [2, 3, 4, 4])
    model = Model(normalized(convolution(x, groups=3), 6), [x])
    image = floats(2, 3, 4, 4)
    (before,) = run(model, image)
    assert fold_batch_norm(model) and operations(model) == ["GroupConvolution", "Add"]
    np.testing.assert_allclose(run(model, image)[0], before, rtol=1e-4, atol=1e-4)
    folded = next(n for n in model.get_ordered_ops() if n.type_info.name == "GroupConvolution")
    assert set(original_names(folded)) == {"conv", "norm"}


@pytest.mark.parametrize(("filters", "pad", "expected"), [
    ((5, 1, 1, 1, 1), 0, ["Convolution", "Add"]),
    ((5, 1, 1, 1, 1), 1, ["Convolution", "GroupConvolution", "Add"]),
    ((5, 1, 1, 3, 1), 0, ["Convolution", "GroupConvolution", "Add"]),
    ((5, 2, 1, 1, 1), 0, ["Convolution", "GroupConvolution"]),
])  # fmt: skip
def test_a_depthwise_convolution_of_one_number_per_channel_is_a_scale(filters, pad, expected):
    x = Parameter(Type.f32, [2, 3, 4, 4])
    depthwise = ops.GroupConvolution(convolution(x), floats(*filters), [1, 1], [pad, pad], [pad, pad], [1, 1])
    model = Model(ops.Add(depthwise, floats(1, 5, 1, 1)) if filters[1] == 1 else depthwise, [x])
    image = floats(2, 3, 4, 4)
    (before,) = run(model, image)
    fold_batch_norm(model)
    assert operations(model) == expected
    np.testing.assert_allclose(run(model, image)[0], before, rtol=1e-4, atol=1e-4)


def test_a_batch_norm_after_no_convolution_becomes_multiply_and_add():
    x = Parameter(Type.f32, [2, 5, 3])
    model = Model(normalized(x, 5), [x])
    data = floats(2, 5, 3)
    (before,) = run(model, data)
    assert fold_batch_norm(model) and operations(model) == ["Multiply", "Add"]
    np.testing.assert_allclose(run(model, data)[0], before, rtol=1e-5, atol=1e-5)


def test_filters_that_two_convolutions_share_are_scaled_for_one():
    x = Parameter(Type.f32, [1, 3, 4, 4])
    filters = Constant(floats(5, 3, 1, 1))
    first, second = (ops.Convolution(x, filters, [1, 1], [0, 0], [0, 0], [1, 1]) for _ in range(2))
    model = Model([ops.Multiply(first, np.float32(2)), second], [x])
    image = floats(1, 3, 4, 4)
    before = run(model, image)
    fold_batch_norm(model)
    for found, wanted in zip(run(model, image), before):
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


def reshaping() -> Model:
    x = Parameter(Type.f32, [-1, 4], name="x")
    pattern = Parameter(Type.i64, [2], name="pattern")
    counts = Parameter(Type.i64, [-1], name="counts")
    reshaped = ops.Reshape(x, ops.Add(pattern, np.int64([0, 0])), False)
    return Model([reshaped, ops.Multiply(counts, np.int64(2)), ops.ShapeOf(counts)], [x, pattern, counts])


def test_parameters_that_decide_shapes():
    assert [p.friendly_name for p in shape_deciding_parameters(reshaping())] == ["pattern"]


def test_a_specialized_model_is_static_and_computes_the_same():
    model = reshaping()
    special = specialize(model, {0: (3, 4), 1: (2,), 2: (5,)}, {1: np.int64([2, 6])})
    assert not special.is_dynamic() and operations(special) == ["Reshape", "Multiply"]
    data, counts = floats(3, 4), np.arange(5)
    reshaped, doubled, shape = run(special, data, np.int64([2, 6]), counts)
    np.testing.assert_array_equal(reshaped, data.reshape(2, 6))
    np.testing.assert_array_equal(doubled, counts * 2)
    np.testing.assert_array_equal(shape, [5])
    assert model.is_dynamic()


def test_a_shape_that_depends_on_data_stays_dynamic_when_specialized():
    special = specialize(reshaping(), {0: (3, 4), 1: (2,), 2: (5,)}, {})
    shapes = [[dimension.is_static for dimension in output.partial_shape] for output in special.outputs]
    assert shapes == [[False, False], [True], [True]]


def test_specializing_folds_an_if_whose_condition_becomes_known():
    x, condition = Parameter(Type.f32, [-1], name="x"), Parameter(Type.boolean, [], name="condition")
    branches = []
    for function in (ops.Exp, ops.Negative):
        inner = Parameter(Type.f32, [-1])
        branches.append(Model([function(inner)], [inner]))
    node = ops.If(condition)
    node.set_then_body(branches[0])
    node.set_else_body(branches[1])
    node.set_input(x.output(0), *(branch.parameters[0] for branch in branches))
    chosen = node.set_output(*(branch.results[0] for branch in branches))
    special = specialize(Model([chosen], [x, condition]), {0: (2,), 1: ()}, {1: np.array(False)})
    assert operations(special) == ["Negative"]


@pytest.mark.parametrize("name", ["ocr_direction", "ocr_recognition"])
def test_passes_keep_the_results_of_real_models(name):
    from hetero import Core

    model = Core().read_model(zoo.path(name))
    (data,) = zoo.inputs(name).values()
    special = specialize(model, {0: data.shape}, {})
    fold_batch_norm(special)
    assert "BatchNormInference" not in operations(special) and "ShapeOf" not in operations(special)
    (expected,) = zoo.expected(name).values()
    np.testing.assert_allclose(run(special, data)[0], expected, atol=1e-4 * np.abs(expected).max())


def test_names_become_unique():
    x = Parameter(Type.f32, [1], name="a")
    model = Model(ops.Relu(ops.Relu(x, name="a"), name="a"), [x])
    assert make_names_unique(model)
    names = [node.friendly_name for node in model.get_ordered_ops()]
    assert names[0] == "a" and len(set(names)) == len(names)
    assert not make_names_unique(model)


def test_the_known_value_of_a_parameter_gives_shapes():
    parameter = Parameter(Type.i64, [2])
    parameter.known_value = np.array([2, 6])
    parameter.infer()
    x = Parameter(Type.f32, [-1, 4])
    assert ops.Reshape(x, parameter, False).output(0).partial_shape == PartialShape([2, 6])
