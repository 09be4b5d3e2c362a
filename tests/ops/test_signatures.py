"""The factories take what OpenVINO's take: names, order and defaults."""

import inspect
from importlib import import_module

import pytest

from hetero.ops.opsets import make_modules

FACTORIES = {
    13: (
        "avg_pool", "broadcast", "concat", "convolution", "convolution_backprop_data", "depth_to_space", "gather",
        "group_convolution", "group_convolution_backprop_data", "interpolate", "max_pool", "pad", "range", "reshape",
        "shape_of", "slice", "space_to_depth", "split", "strided_slice", "tile", "transpose", "unsqueeze",
        "variadic_split",
    ),
    16: ("identity",),
}  # fmt: skip


@pytest.mark.parametrize(("opset", "name"), [(opset, name) for opset, names in FACTORIES.items() for name in names])
def test_parameters(opset, name):
    theirs = inspect.signature(getattr(import_module(f"openvino.opset{opset}"), name)).parameters.values()
    ours = inspect.signature(getattr(make_modules()[f"opset{opset}"], name)).parameters.values()
    assert [(p.name, p.default) for p in ours] == [(p.name, p.default) for p in theirs if p.name != "name"]
