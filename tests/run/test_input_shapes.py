"""Shapes of inputs as options have them."""

import pytest

from hetero import Model, Parameter, Type, ops
from hetero.run.input_shapes import parse_shapes, reshape, shapes_that_do_not_fit
from hetero.system.errors import ConfigError


@pytest.fixture
def model():
    x, y = (Parameter(Type.f32, shape, name=name) for name, shape in (("x", [1, 3]), ("y", [-1, 3])))
    return Model(ops.Add(x, y), [x, y])


def test_parse_shapes(model):
    assert parse_shapes(["x=1,3", "a=b=[4]", "s="], model) == {"x": (1, 3), "a=b": (4,), "s": ()}
    assert parse_shapes(["x[1,3],y[?, 4]"], model) == {"x": (1, 3), "y": (-1, 4)}
    assert parse_shapes(["[2,3]", "y=5,3"], model) == {"x": (2, 3), "y": (5, 3)}
    model.input(0).names = {"first", "other"}
    (name,) = parse_shapes(["other=1,3"], model)
    assert name == model.input(0).any_name
    for wrong in ("x", "=1", "x=a", "x=1,b", "1,3", "x[1,3", "x[1-]"):
        with pytest.raises(ConfigError, match="is no shape of an input: write NAME=1,3,224,224"):
            parse_shapes([wrong], model)


def test_reshape(model):
    assert shapes_that_do_not_fit(model, {"x": (2, 3), "y": (2, 3)}) == {"x": (2, 3)}
    assert shapes_that_do_not_fit(model, {"x": (-1, 3)}) == {}
    reshape(model, {"x": (2, 3)}, 0)
    reshape(model, {}, 7)
    assert [port.partial_shape.to_shape() for port in model.inputs] == [(7, 3), (7, 3)]
