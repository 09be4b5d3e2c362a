"""Shape computations are placed without islands and without copies of large values."""

import numpy as np
import pytest

from hetero import Model, Parameter, Type, ops
from tests.devices import PickyPlugin, core_with


def model() -> Model:
    """relu → tanh → flat, whose shape is computed from that of relu."""
    x = Parameter(Type.f32, [-1, 3, 4], name="x")
    relu = ops.Relu(x, name="relu")
    tanh = ops.Tanh(relu, name="tanh")
    rows = ops.Gather(ops.ShapeOf(relu, name="shape"), np.int64([0]), np.int64(0), name="rows")
    pattern = ops.Concat([rows, np.int64([12])], 0)
    pattern.friendly_name = "pattern"
    return Model([ops.Reshape(tanh, pattern, False, name="flat")], [x], "flatten")


@pytest.mark.parametrize(
    ("refused", "pins", "expected"),
    [
        ((), {}, "AAAAAA"),
        # A cannot run flat. If relu is read on A alone, its ShapeOf is placed there; if on both devices, on B.
        (("flat", "tanh"), {}, "ABBBBB"),
        (("flat",), {}, "AAABBB"),
        # Everything but the shape computation is on B.
        (("flat", "tanh", "relu"), {}, "BBBBBB"),
        (("flat", "tanh", "relu"), {"rows": "A"}, "BBBABB"),
        # B cannot run Gather: only the shape is copied to A and back.
        (("flat", "tanh", "relu"), {"b": "rows"}, "BBBABB"),
    ],
)
def test_shape_computations_run_on_the_device_of_their_readers(refused, pins, expected):
    only_a = pins.get("b")
    core = core_with(
        A=PickyPlugin(lambda node: node.friendly_name not in refused),
        B=PickyPlugin(lambda node: node.friendly_name != only_a),
    )
    options = {"AFFINITIES": {name: device for name, device in pins.items() if name != "b"}}
    compiled = core.compile_model(model(), "HETERO:A,B", options)
    found = {o.name: o for o in compiled.get_property("PLACEMENT_REPORT").operations}
    names = ("relu", "tanh", "shape", "rows", "pattern", "flat")
    assert "".join(found[name].device for name in names) == expected
    assert core.query_model(model(), "HETERO:A,B", options).items() >= {n: found[n].device for n in names}.items()
    x = np.random.default_rng(0).standard_normal([2, 3, 4]).astype(np.float32)
    np.testing.assert_allclose(compiled(x)[0], np.tanh(np.maximum(x, 0)).reshape(2, 12), rtol=1e-6)


def test_moved_operations_have_a_reason():
    core = core_with(A=PickyPlugin(lambda node: node.friendly_name in ("shape", "rows", "pattern")), B=PickyPlugin())
    report = core.compile_model(model(), "HETERO:A,B").get_property("PLACEMENT_REPORT")
    assert {o.name: o.reason for o in report.operations if o.name == "pattern"} == {"pattern": "beside 'flat'"}
    assert len(report.subgraphs) == 1
