"""Extensions of the reading of a model: progress reports and changes to the decoded model."""

import io

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

from hetero import Core, Model, Parameter, Type, ops, serialize
from hetero.frontend import DecoderTransformationExtension, ProgressReporterExtension
from hetero.system.errors import FrontendError
from tests.frontend.tflite.models import chain, feed
from tests.frontend.toy import ToyFrontEnd, toy

X = np.float32([-2, -0.5, 0, 0.5, 2])


def onnx_model(*op_types) -> bytes:
    """Return a model of a chain of operators."""
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [5]) for name in ("v0", f"v{len(op_types)}")]
    nodes = [helper.make_node(op_type, [f"v{n}"], [f"v{n + 1}"]) for n, op_type in enumerate(op_types)]
    imports = [helper.make_opsetid("", 17)]
    return helper.make_model(helper.make_graph(nodes, "model", *map(list, zip(value))), opset_imports=imports)


def read(source, *extensions, weights=None):
    core = Core()
    core.add_extension(extensions)
    return core.read_model(source, weights)


def reports_of(source, weights=None):
    reports = []
    read(source, ProgressReporterExtension(lambda *report: reports.append(report)), weights=weights)
    return reports


THREE = [(1 / 3, 3, 1), (2 / 3, 3, 2), (1, 3, 3)]


def test_progress_of_onnx():
    assert reports_of(onnx_model("Relu", "Exp", "Neg")) == THREE


def test_nodes_of_bodies_are_not_steps():
    model = onnx_model("Relu", "Exp")
    branch = helper.make_graph(
        [helper.make_node("Neg", ["v0"], ["z"])], "b", [], [helper.make_tensor_value_info("z", TensorProto.FLOAT, [5])]
    )
    model.graph.node.append(helper.make_node("If", ["c"], ["w"], then_branch=branch, else_branch=branch))
    model.graph.input.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
    model.graph.output.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [5]))
    assert [report[1:] for report in reports_of(model)] == [(3, 1), (3, 2), (3, 3)]


def test_progress_of_tensorflow_lite():
    assert reports_of(chain(feed((2, 3)), *[("ZEROS_LIKE", {})] * 3).content) == THREE


def test_progress_of_ir(tmp_path):
    x = Parameter(Type.f32, [5])
    serialize(Model([ops.Relu(x)], [x], "model"), tmp_path / "model.xml")
    assert reports_of(tmp_path / "model.xml") == THREE  # the input, Relu and the output


def test_what_a_reporter_raises_ends_the_reading():
    def stop(progress, total, completed):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reports = read(onnx_model("Relu"), ProgressReporterExtension(stop))
        pytest.fail(f"it was read: {reports}")


def test_reports_of_ones_own():
    reports = []
    ProgressReporterExtension(lambda *report: reports.append(report)).report_progress(0.5, 4, 2)
    ProgressReporterExtension().report_progress(0.5, 4, 2)  # tells nobody
    assert reports == [(0.5, 4, 2)]


def negate(proto: ModelProto) -> bool:
    for node in proto.graph.node:
        node.op_type = node.op_type.replace("Relu", "Neg")
    return True


@pytest.mark.parametrize(
    "form", [lambda model: model, ModelProto.SerializeToString, lambda m: io.BytesIO(m.SerializeToString())]
)
def test_a_decoded_onnx_model_is_changed(form):
    model = onnx_model("Relu")
    before = model.SerializeToString()
    found = Core().compile_model(read(form(model), DecoderTransformationExtension(negate)), "TEMPLATE")(X)[0]
    np.testing.assert_array_equal(found, -X)
    assert model.SerializeToString() == before  # the user's own object


def test_a_decoded_tensorflow_lite_model_is_changed():
    def clear(decoded):
        decoded.graph.nodes[0].op_type = "ZEROS_LIKE"

    model = chain(feed(np.float32([[1, -2]])), ("RELU", {}))
    found = Core().compile_model(read(model.content, DecoderTransformationExtension(clear)), "TEMPLATE")(model.inputs)
    np.testing.assert_array_equal(found[0], [[0, 0]])


def test_several_in_the_order_in_which_they_were_added():
    def rename(old, new):
        def change(proto):
            assert [node.op_type for node in proto.graph.node] == [old]
            proto.graph.node[0].op_type = new

        return DecoderTransformationExtension(change)

    model = read(onnx_model("Relu"), rename("Relu", "Exp"), rename("Exp", "Neg"))
    assert type(model.results[0].input_value(0).node) is ops.Negative


def test_they_may_be_meant_for_one_frontend():
    def raises(decoded):
        raise ValueError("not mine")

    extension = DecoderTransformationExtension(raises, framework="tflite")
    read(onnx_model("Relu"), extension)
    with pytest.raises(FrontendError, match=r"DecoderTransformationExtension \(.*extensions.py:\d+\): ValueError: not"):
        read(chain(feed((2, 3)), ("RELU", {})).content, extension)


def test_any_frontend_has_both():
    frontend, reports = ToyFrontEnd("paddle"), []
    frontend.add_extension(ProgressReporterExtension(lambda *report: reports.append(report)))
    frontend.add_extension(DecoderTransformationExtension(lambda written: written["nodes"][0].update(type="relu")))
    model = frontend.convert(toy("paddle", "unknown", ["x"]))
    assert type(model.results[0].input_value(0).node) is ops.Relu and reports == [(1, 1, 1)]
