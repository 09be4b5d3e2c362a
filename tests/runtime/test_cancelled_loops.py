"""cancel() ends Loop and TensorIterator between iterations, also within If and bodies of bodies."""

import numpy as np
import pytest

import hetero
from hetero import Model, Parameter, Type, ops
from hetero.graph import Constant
from hetero.system.errors import CancelledError
from tests.devices import GPUS

CORE = hetero.Core()
# More iterations than any device can run during the test.
MANY = np.int64(1 << 40)
F32 = np.float32([1, 2])


def endless_loop(x, compute=lambda state: ops.Add(state, np.float32(1))):
    """Return a Loop that adds 1 to x in each iteration."""
    state = Parameter(Type.f32, [2])
    body = Model([Constant(np.array(True)), compute(state)], [state])
    node = ops.Loop(Constant(MANY), Constant(np.array(True)))
    node.set_function(body)
    node.set_special_body_ports([-1, 0])
    node.set_merged_input(state, x, body.results[1].output(0))
    return node.get_iter_value(body.results[1].output(0), -1)


def endless_loop_without_operations(x):
    """Return a Loop whose body has no operation before which a device could check for cancellation."""
    return endless_loop(x, lambda state: state)


def loop_in_tensor_iterator(x):
    part, value = Parameter(Type.f32, [1]), Parameter(Type.f32, [2])
    body = Model([ops.Add(endless_loop(value), part)], [part, value])
    node = ops.TensorIterator()
    node.set_function(body)
    node.set_sliced_input(part, x, 0, 1, 1, -1, 0)
    node.set_invariant_input(value, x)
    return node.get_iter_value(body.results[0].output(0), -1)


def loop_in_if(x):
    node = ops.If(ops.Greater(ops.ReduceSum(x, np.int64([0]), False), np.float32(0)))
    inner, other = Parameter(Type.f32, [2]), Parameter(Type.f32, [2])
    node.set_then_body(Model([endless_loop(inner)], [inner]))
    node.set_else_body(Model([ops.Relu(other)], [other]))
    node.set_input(x, inner, other)
    return node.set_output(node.get_then_body().results[0], node.get_else_body().results[0])


@pytest.mark.parametrize(
    "build", [endless_loop, endless_loop_without_operations, loop_in_tensor_iterator, loop_in_if],
    ids=lambda build: build.__name__,
)  # fmt: skip
@pytest.mark.parametrize("device", ["TEMPLATE", GPUS[0], "HETERO:TEMPLATE", f"HETERO:{GPUS[0]},TEMPLATE"])
def test_cancel_ends_a_loop_between_iterations(device, build):
    x = Parameter(Type.f32, [2])
    request = CORE.compile_model(Model([build(x.output(0))], [x]), device).create_infer_request()
    request.start_async([F32])
    assert not request.wait_for(300)
    request.cancel()
    with pytest.raises(CancelledError, match="was cancelled"):
        assert request.wait_for(20_000)
