"""InputModel and Place: what a program asks and changes between loading and conversion."""

import numpy as np
import onnx
import openvino
import pytest
from onnx import TensorProto, helper

import hetero
from hetero.system.errors import FrontendError


@pytest.fixture
def path(tmp_path):
    nodes = [
        helper.make_node("Relu", ["x"], ["y"], name="relu"), helper.make_node("Exp", ["y"], ["z"], name="exp"),
        helper.make_node("Add", ["z", "y"], ["w"], name="add"),
    ]  # fmt: skip
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xw"]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:])
    file = str(tmp_path / "model.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), file)
    return file


def places(ov, path):
    frontend = ov.frontend.FrontEndManager().load_by_framework(framework="onnx")
    model = frontend.load(path)
    x, y = (model.get_place_by_tensor_name(name) for name in "xy")
    before = str(model.get_partial_shape(x)), str(model.get_element_type(x))
    model.set_partial_shape(x, ov.PartialShape([-1, 3]))
    converted = frontend.convert(model)
    halves = frontend.load(path)
    halves.set_element_type(halves.get_place_by_tensor_name("x"), ov.Type.f16)
    decoded = frontend.decode(frontend.load(path))
    frontend.normalize(decoded)
    return [
        [place.get_names() for place in (*model.get_inputs(), *model.get_outputs(), y)], before,
        model.get_place_by_tensor_name("q"), y.is_input(), y.is_output(), model.get_outputs()[0].is_output(),
        y.is_equal(x), y.is_equal_data(y), [one.get_names() for one in y.get_consuming_operations()],
        y.get_producing_operation().get_names(), str(model.get_partial_shape(x)),
        str(converted.input().partial_shape), str(frontend.convert(halves).input().element_type),
        [node.get_type_name() for node in decoded.get_ordered_ops()],
        [node.get_type_name() for node in frontend.convert_partially(frontend.load(path)).get_ordered_ops()],
    ]  # fmt: skip


def test_places_are_openvinos(path):
    assert places(hetero, path) == places(openvino, path)


# OpenVINO does not implement these for ONNX.
def test_changes_of_inputs_and_outputs(path):
    frontend = hetero.frontend.FrontEndManager().load_by_model(path)
    data = np.array([[1, -1, 2], [0, 1, 3]], np.float32)

    def run(change, value=data):
        model = frontend.load(path)
        change(model, {name: model.get_place_by_tensor_name(name) for name in "xyzw"})
        return hetero.compile_model(frontend.convert(model), "TEMPLATE")(value).to_tuple()

    relu = np.maximum(data, 0)
    exp = np.exp(relu)
    cases = [
        (lambda model, at: model.override_all_outputs([at["z"], at["y"]]), [exp, relu]),
        (lambda model, at: model.override_all_inputs([at["y"]]), [np.exp(data) + data]),
        (lambda model, at: model.extract_subgraph([at["y"]], [at["z"]]), [np.exp(data)]),
        (lambda model, at: model.add_output(at["z"]), [exp + relu, exp]),
        (lambda model, at: model.set_name_for_tensor(at["x"], "new"), [exp + relu]),
    ]
    for change, expected in cases:
        results = run(change)
        assert len(results) == len(expected)
        for result, array in zip(results, expected):
            np.testing.assert_allclose(result, array, 1e-5)
    constant = run(lambda model, at: model.set_tensor_value(at["y"], data), [])
    np.testing.assert_allclose(constant[0], np.exp(data) + data, 1e-5)
    cut = run(lambda model, at: model.cut_and_add_new_input(at["z"], "new"), {"x": data, "new": data})
    np.testing.assert_allclose(cut[0], relu + data, 1e-5)
    with pytest.raises(FrontendError, match="the outputs also depend on the inputs x"):
        run(lambda model, at: model.override_all_inputs([at["z"]]))
    with pytest.raises(FrontendError, match="is no input of the model"):
        run(lambda model, at: model.set_partial_shape(at["z"], [1]))


def test_telemetry_reaches_its_callbacks():
    seen = []
    telemetry = hetero.frontend.TelemetryExtension("category", *[lambda *values: seen.append(values)] * 3)
    telemetry.send_event("action", "label", 3)
    telemetry.send_error("error")
    telemetry.send_stack_trace("trace")
    assert seen == [("category", "action", "label", 3), ("category", "error"), ("category", "trace")]
