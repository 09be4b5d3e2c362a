"""PLACEMENT_REPORT: its summary, text and JSON, and the line that is logged by default."""

import dataclasses
import json
import logging
import subprocess
import sys

import numpy as np
import pytest

from hetero import Model, Parameter, Type, ops
from hetero.graph.rt_info import AFFINITY
from tests.devices import PickyPlugin, core_with


def on(device, node):
    node.rt_info[AFFINITY] = device
    return node


def model(rows=2, last="softmax") -> Model:
    """relu on A, exp and the rest on B, and A adds both; two subgraphs read exp."""
    x = Parameter(Type.f32, [rows, 250], name="x")
    relu = on("A", ops.Relu(x, name="relu"))
    exp = on("B", ops.Exp(relu, name="exp"))
    total = on("A", ops.Add(relu, exp, name="total"))
    shape = ops.ShapeOf(x, name="shape")
    first = on("B", ops.Multiply(ops.Tanh(total, name="tanh"), exp, name="product"))
    return Model([ops.Softmax(first, 1, name=last), shape], [x], "net")


def report_of(model, devices="A,B", **options):
    core = core_with(A=PickyPlugin(lambda n: n.type_info.name != "Tanh"), B=PickyPlugin(), C=PickyPlugin())
    return core.compile_model(model, f"HETERO:{devices}", options).get_property("PLACEMENT_REPORT")


def test_operations_have_devices_reasons_and_subgraphs():
    found = {o.name: (o.type_name, o.device, o.reason, o.subgraph) for o in report_of(model()).operations}
    assert found == {
        "relu": ("Relu", "A", "pinned", 0),
        "exp": ("Exp", "B", "pinned", 1),
        "total": ("Add", "A", "pinned", 2),
        "shape": ("ShapeOf", "A", "known when compiled", None),
        "tanh": ("Tanh", "B", "A: A is picky", 3),
        "product": ("Multiply", "B", "pinned", 3),
        "softmax": ("Softmax", "A", "first device", 4),
    }


def test_boundaries_have_values_types_and_bytes():
    found = report_of(model()).boundaries
    assert [(b.value, b.element_type, b.shape, b.byte_size, b.source, b.targets) for b in found] == [
        ("relu", "f32", "[2,250]", 2000, 0, (1, 2)),
        ("exp", "f32", "[2,250]", 2000, 1, (2, 3)),
        ("total", "f32", "[2,250]", 2000, 2, (3,)),
        ("product", "f32", "[2,250]", 2000, 3, (4,)),
    ]


def test_the_summary_is_one_line():
    assert report_of(model()).summary() == (
        "A 4/7 operations (66.7% of the work) in 3 subgraphs; B 3 (33.3%): Exp, Tanh, Multiply; "
        "4 boundaries, 8.0 kB an inference"
    )


@pytest.mark.parametrize(
    ("devices", "pins", "expected"),
    [
        ("A,B", {}, "A 1/1 operation in 1 subgraph"),
        ("B,C,A", {"exp": "A"}, "B 0/1 operation; A 1: Exp"),
    ],
)
def test_the_summary_begins_with_the_first_device(devices, pins, expected):
    x = Parameter(Type.f32, [2], name="x")
    assert report_of(Model(ops.Exp(x, name="exp"), [x]), devices, AFFINITIES=pins).summary() == expected


def test_little_work_is_not_rounded_to_zero():
    x = Parameter(Type.f32, [100, 100], name="x")
    last = ops.Exp(ops.ReduceMax(ops.MatMul(x, x, False, False), np.int64([0, 1])), name="exp")
    line = report_of(Model(last, [x]), AFFINITIES={"exp": "B"}).summary()
    assert line.startswith("A 2/3 operations (>99.9% of the work) in 1 subgraph; B 1 (<0.1%): Exp;")


def test_the_summary_names_the_most_frequent_types_only():
    x = Parameter(Type.f32, [2], name="x")
    value = x
    for kind in (ops.Relu, ops.Exp, ops.Tanh, ops.Abs, ops.Sqrt, ops.Sin, ops.Tanh):
        value = kind(value)
    line = report_of(Model(value, [x]), "A,C", AFFINITIES={"*": "C"}).summary()
    assert line == "A 0/7 operations; C 7: Tanh, Relu, Exp, Abs, Sqrt, …"


@pytest.mark.parametrize(
    ("rows", "expected"), [(-1, "4 boundaries, of sizes that depend on the data, an inference"), (2, "8.0 kB")]
)
def test_the_size_of_a_dynamic_boundary_is_unknown(rows, expected):
    report = report_of(model(rows))
    assert expected in report.summary()
    assert {b.byte_size for b in report.boundaries} == ({None} if rows == -1 else {2000})


def test_some_sizes_may_be_known():
    x = Parameter(Type.f32, [-1, 4], name="x")
    square = ops.Multiply(x, x, name="square")
    row = ops.ReduceSum(square, np.int64([0]), name="row")
    last = [on("B", ops.Exp(row, name="first")), on("B", ops.Exp(square, name="second"))]
    line = report_of(Model(last, [x])).summary()
    assert line.endswith("2 boundaries, 16 bytes and 1 of unknown size an inference")


def test_text():
    report = report_of(model())
    text = str(report)
    assert text.splitlines()[:5] == [
        f"'net' on A, B: {report.summary()}",
        "subgraph 0 on A: 1 operation, 1 input, 1 output",
        "  Relu 'relu' (pinned)",
        "subgraph 1 on B: 1 operation, 1 input, 1 output",
        "  Exp 'exp' (pinned)",
    ]
    for line in (
        "  Tanh 'tanh' (A: A is picky)",
        "  Softmax 'softmax'",
        "on no device: 1 operation\n  ShapeOf 'shape' (known when compiled)",
        "boundary 'exp' f32[2,250], 2.0 kB: subgraph 1 to 2, 3, in shared host memory",
    ):
        assert f"\n{line}\n" in text


def test_json():
    report = report_of(model())
    data = json.loads(json.dumps(dataclasses.asdict(report)))
    assert data["devices"] == ["A", "B"] and data["model"] == "net"
    assert next(o for o in data["operations"] if o["name"] == "tanh") == {
        "name": "tanh", "type_name": "Tanh", "device": "B", "reason": "A: A is picky", "subgraph": 3, "work": 500,
    }  # fmt: skip
    assert [s["operations"] for s in data["subgraphs"]] == [
        ["relu"],
        ["exp"],
        ["total"],
        ["tanh", "product"],
        ["softmax"],
    ]
    assert data["boundaries"][1]["targets"] == [2, 3]


SCRIPT = """
import logging
{setup}
from hetero import Core, Model, Parameter, Type, ops
x = Parameter(Type.f32, [2])
Core().compile_model(Model(ops.Relu(x), [x], "net"), "HETERO:TEMPLATE", {options})
"""
LINE = "DEBUG:hetero.HETERO.placement:net: TEMPLATE 1/1 operation in 1 subgraph\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setup", "options", "expected"),
    [
        ("", {}, ""),
        ("logging.basicConfig(level='INFO')", {}, ""),
        ("logging.basicConfig()", {"LOG_LEVEL": "LOG_INFO"}, ""),
        ("logging.basicConfig()", {"LOG_LEVEL": "LOG_DEBUG"}, LINE),
        ("logging.basicConfig(); logging.getLogger('hetero.HETERO.placement').setLevel('DEBUG')", {}, LINE),
    ],
)
def test_the_summary_is_shown_at_level_debug(setup, options, expected):
    script = SCRIPT.format(setup=setup, options=options)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    shown = [line for line in done.stderr.splitlines(True) if "net: TEMPLATE" in line]
    assert (done.stdout, "".join(shown)) == ("", expected)


def test_the_summary_is_logged_once_for_each_compilation(caplog):
    with caplog.at_level(logging.DEBUG, "hetero.HETERO.placement"):
        report = report_of(model())
    messages = [record.getMessage() for record in caplog.records if record.name == "hetero.HETERO.placement"]
    assert messages == [f"net: {report.summary()}"]
