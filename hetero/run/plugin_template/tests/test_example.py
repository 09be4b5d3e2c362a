"""Device EXAMPLE, as users reach it; the conformance kit tests it at large: see README.md."""

import numpy as np
from hetero import Core, Model, Parameter, Type, ops


def test_relu():
    x = Parameter(Type.f32, [-1, 3], name="x")
    compiled = Core().compile_model(Model(ops.Relu(x), [x]), "EXAMPLE")
    np.testing.assert_array_equal(compiled([np.float32([[-1, 0, 2]])])[0], [[0, 0, 2]])
