"""A device that writes to its inputs fails and is replaced; other readers see undamaged values."""

import numpy as np
import pytest

from hetero import Model, Parameter, Tensor, Type, ops
from hetero.dispatch.execution.boundary_tensor import ReadOnlyTensor
from tests.devices import PickyPlugin, core_with
from tests.dispatch.faulty import Faulty, X, Y, chain, devices_of, warnings_in

WAYS = {
    "into the array": lambda tensor: tensor.data.fill(7),
    "into a region": lambda tensor: Tensor(tensor, [0, 0], [1, 4]).data.fill(7),
    "by copy_from": lambda tensor: tensor.copy_from(np.full((1, 4), 7, np.float32)),
    "by take": lambda tensor: tensor.take(np.full((1, 4), 7, np.float32)),
    "another shape": lambda tensor: tensor.set_shape([9, 4]),
    "another shape as a property": lambda tensor: setattr(tensor, "shape", [9, 4]),
}


def of_types(*names: str):
    return lambda node: node.type_info.name in names


@pytest.fixture(params=WAYS)
def writer(request) -> Faulty:
    plugin = Faulty("writes inputs", healthy=2)
    plugin.write = WAYS[request.param]
    return plugin


def test_other_readers_of_a_value_get_what_was_written(writer, caplog):
    """Two operations read one value; the first runs on a device that writes to its inputs."""
    writer._accepts = of_types("Exp")
    x = Parameter(Type.f32, [1, 4])
    relu = ops.Relu(x, name="relu")
    model = Model([ops.Exp(relu, name="exp"), ops.Tanh(relu, name="tanh"), relu], [x])
    others = PickyPlugin(of_types("Relu")), PickyPlugin(of_types("Tanh", "Exp"))
    compiled = core_with(A=writer, B=others[0], C=others[1]).compile_model(model, "HETERO:A,B,C")
    assert devices_of(compiled) == {"exp": "A", "relu": "B", "tanh": "C"}
    request = compiled.create_infer_request()
    expected = np.maximum(X, 0)
    for _ in range(3):
        exp, tanh, relu = request.infer(X).to_tuple()
        np.testing.assert_allclose(exp, np.exp(expected), rtol=1e-6)
        np.testing.assert_allclose(tanh, np.tanh(expected), rtol=1e-6)
        np.testing.assert_array_equal(relu, expected)
    (warning,) = warnings_in(caplog)
    assert "no longer on A: A failed in start of" in warning and "read-only" in warning


def test_the_array_of_the_user_is_not_changed(writer, caplog):
    x = X.copy()
    request = core_with(A=writer, B=PickyPlugin()).compile_model(chain(), "HETERO:A,B").create_infer_request()
    for _ in range(3):
        np.testing.assert_allclose(request.infer(x, share_inputs=True)[0], Y, rtol=1e-6)
    np.testing.assert_array_equal(x, X)
    request.get_input_tensor().data[...] = 0  # the user may change it
    assert len(warnings_in(caplog)) == 1


class WritesConstants(PickyPlugin):
    def compile_model(self, model, options, context=None):
        for node in model.get_ordered_ops():
            if node.type_info.name == "Constant":
                node.data[...] = 7
        return super().compile_model(model, options, context)


def test_constants_are_not_changed(caplog):
    x, weights = Parameter(Type.f32, [1, 4]), np.float32([[1, 2, 3, 4]])
    model = Model(ops.Add(x, weights), [x])
    compiled = core_with(A=WritesConstants(), B=PickyPlugin()).compile_model(model, "HETERO:A,B")
    np.testing.assert_array_equal(compiled(X)[0], X + np.float32([1, 2, 3, 4]))
    np.testing.assert_array_equal(weights, [[1, 2, 3, 4]])
    assert "read-only" in warnings_in(caplog)[0]


def test_dlpack_shares_the_memory():
    tensor = Tensor(X)
    found = np.from_dlpack(ReadOnlyTensor(tensor))
    np.testing.assert_array_equal(found, X)
    assert np.shares_memory(found, tensor.data)
