"""Loops whose bodies return carried values as others: swapped, rotated, an earlier one. Expected: Python's own loop."""

import numpy as np
import pytest

from hetero import Core, Model, Parameter, Type, ops
from hetero import opset13 as op
from tests.devices import GPUS

DEVICES = ["TEMPLATE", GPUS[0], "OPENVINO.CPU", "CPU"]
STARTS = [np.float32([1, 2]), np.float32([10, 20]), np.float32([100, 200])]
# The values after an iteration.
STEPS = {
    "swapped": lambda a, b, c: (b, a, c),
    "rotated": lambda a, b, c: (b, c, a),
    "previous": lambda a, b, c: (a + b, a, c),
    "two before": lambda a, b, c: (a + c, a, b),
}
# What the body may do with a value that it returns otherwise unchanged.
WAYS = {
    "directly": lambda value: value,
    "by Reshape": lambda value: op.reshape(value, np.int64([2]), False),
    "by Concat": lambda value: op.concat([value], 0),
    "by Transpose": lambda value: op.transpose(value, np.int64([0])),
    "by Unsqueeze and Squeeze": lambda value: op.squeeze(op.unsqueeze(value, np.int64(0)), np.int64([0])),
}


def loop(step, way) -> Model:
    count = Parameter(Type.i64, [], name="count")
    starts = [Parameter(Type.f32, [2], name=f"start {index}") for index in range(3)]
    carried = [Parameter(Type.f32, [2]) for _ in starts]
    successive = [op.result(way(value)) for value in step(*carried)]
    goes_on = op.result(op.constant(True))
    node = op.loop(count, op.constant(True))
    node.set_function(Model([goes_on, *successive], carried, "body"))
    node.set_special_body_ports([-1, 0])
    for parameter, start, value in zip(carried, starts, successive):
        node.set_merged_input(parameter, start.output(0), value.output(0))
    return Model([node.get_iter_value(value.output(0), -1) for value in successive], [count, *starts], "loop")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("device", DEVICES)
def test_values_that_a_body_returns_as_others(device, name, way):
    request = Core().compile_model(loop(STEPS[name], WAYS[way]), device).create_infer_request()
    for count in (0, 1, 2, 5, 1):
        expected = STARTS
        for _ in range(count):
            expected = STEPS[name](*expected)
        np.testing.assert_array_equal(request.infer([np.int64(count), *STARTS]).to_tuple(), expected)


@pytest.mark.parametrize("axis", [1, -1, 0, -2])
@pytest.mark.parametrize("device", DEVICES)
def test_slices_along_an_axis_that_is_counted_from_the_end(device, axis):
    """Sums of slices so far, concatenated along the same axis. Expected: numpy.cumsum."""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    length = x.shape[axis]
    part = np.take(x, [0], axis).shape
    data, start = Parameter(Type.f32, x.shape), Parameter(Type.f32, part)
    total, piece = Parameter(Type.f32, part), Parameter(Type.f32, part)
    successive = op.result(ops.Add(total, piece))
    node = op.loop(op.constant(np.int64(length)), op.constant(True))
    node.set_function(Model([op.result(op.constant(True)), successive], [total, piece], "body"))
    node.set_special_body_ports([-1, 0])
    node.set_merged_input(total, start.output(0), successive.output(0))
    node.set_sliced_input(piece, data.output(0), 0, 1, 1, -1, axis)
    every = node.get_concatenated_slices(successive.output(0), 0, 1, 1, -1, axis)
    compiled = Core().compile_model(Model([every], [data, start], "sums"), device)
    np.testing.assert_array_equal(compiled([x, np.zeros(part, np.float32)])[0], np.cumsum(x, axis))


@pytest.mark.parametrize("stride", [1, -1])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("shape", [[3, 4], [-1, 4], [-1, -1]], ids=str)
@pytest.mark.parametrize("device", DEVICES)
def test_concatenated_values_follow_the_iterations_of_each_inference(device, shape, axis, stride):
    """Without an iteration there is nothing along the axis; the other lengths stay, and nothing of the one before."""
    count, start, carried = Parameter(Type.i64, []), Parameter(Type.f32, shape), Parameter(Type.f32, shape)
    doubled, goes_on = op.result(op.add(carried, carried)), op.result(op.constant(True))
    part = op.result(op.unsqueeze(doubled.input_value(0), np.int64(axis)))
    node = op.loop(count, op.constant(True))
    node.set_function(Model([goes_on, doubled, part], [carried], "body"))
    node.set_special_body_ports([-1, 0])
    node.set_merged_input(carried, start.output(0), doubled.output(0))
    ends = (0, -1) if stride > 0 else (-1, 0)
    scanned = node.get_concatenated_slices(part.output(0), ends[0], stride, 1, ends[1], axis)
    request = Core().compile_model(Model([scanned], [count, start], "loop"), device).create_infer_request()
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    for iterations in (2, 0, 3, 0, 1):
        parts = [np.expand_dims(x * 2 ** (step + 1), axis) for step in range(iterations)]
        nothing = np.expand_dims(x, axis).take([], axis)
        expected = np.concatenate([nothing, *parts[::stride]], axis)
        np.testing.assert_array_equal(request.infer([np.int64(iterations), x])[0], expected, strict=True)
