"""The TensorFlow Lite frontend as a whole: recognition of files, names, types, custom operators, errors."""

import io
import logging

import numpy as np
import pytest

from hetero import Core, Type, ops
from hetero.frontend import ConversionExtension, DecoderTransformationExtension, OpExtension, ProgressReporterExtension
from hetero.system.errors import FrontendError
from tests.frontend.tflite.agreement import assert_as_litert
from tests.frontend.tflite.models import Graph, Op, Signature, build, constant, feed, model_of, out

X = np.float32([[-2, -0.5, 0.5, 2]])
BIAS = np.float32([1, 2, 3, 4])


@pytest.fixture(scope="module")
def content() -> bytes:
    """y = relu(x + BIAS)"""
    return model_of("ADD", feed(X), constant(BIAS), fused_activation_function="RELU").content


def test_files_are_known_by_their_content(content, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with open(path, "rb") as file:
        sources = [content, path, str(path), io.BytesIO(content), file]
        for source in sources:
            result = Core().compile_model(source, "TEMPLATE")(X)
            np.testing.assert_array_equal(result[0], np.maximum(X + BIAS, 0))


def test_weights_are_used_where_they_are(content):
    model = Core().read_model(content)
    (constant,) = (node for node in model.get_ordered_ops() if node.get_type_name() == "Constant")
    assert np.shares_memory(constant.data, np.frombuffer(content, np.uint8))


def test_names():
    data = feed((1, 4))
    hidden, result = Op("ADD", [data, data], [out(np.float32, name="hidden")]), out(np.float32, name="result")
    graph = Graph([hidden, Op("MUL", [data, *hidden.outputs], [result])])
    signature = Signature("serving_default", {"image": data}, {"score": result})
    model = Core().read_model(build(graph, [signature]).content)
    assert model.inputs[0].get_names() == {data.name, "image"}
    assert model.outputs[0].get_names() == {"result", "score"}
    names = {node.get_type_name(): node.friendly_name for node in model.get_ordered_ops()}
    assert names == {"Parameter": data.name, "Add": "hidden", "Multiply": "result", "Result": "result/result"}


def test_quantized_inputs_and_outputs_are_integers():
    data = feed((2, 3), np.int8, scale=0.1, zero_point=2)
    model = model_of("ADD", data, data, outputs=[out(np.int8, scale=0.1)])
    read = Core().read_model(model.content)
    assert (read.input(0).element_type, read.output(0).element_type) == (Type.i8, Type.i8)


def test_a_scale_of_0_is_none():
    data = feed(np.int32([5, -7]), scale=0.0)
    assert_as_litert(model_of("ADD", data, data, outputs=[out(np.int32, (2,), scale=0.0)]), steps=0)


def test_weights_beside_the_model_are_refused(content):
    with pytest.raises(FrontendError, match="contains its weights; read_model accepts no weights for it"):
        Core().read_model(content, b"weights")


def test_all_unknown_operators_are_told_at_once():
    first = Op("Mine", [feed((1, 4))], [out(np.float32, (1, 4), name="a")])
    second = Op("Yours", first.outputs, [out(np.float32, (1, 4), name="b")])
    message = r"there is no translation of the custom Mine \('a'\), the custom Yours \('b'\): add one with a Conv"
    with pytest.raises(FrontendError, match=message):
        Core().read_model(build(Graph([first, second])).content)


def clipped(node):
    return ops.Clamp(node.get_input(0), -node.get_attribute("limit"), node.get_attribute("limit"))


@pytest.mark.parametrize(
    "extension",
    [
        ConversionExtension("Clip", clipped),
        OpExtension("Clamp", "Clip", {"max_value": "limit"}, {"min_value": -1.0}),
    ],
)
def test_custom_operators_by_extensions(extension):
    model = model_of("Clip", feed(X), outputs=[out(np.float32, X.shape)], limit=1.0)
    core = Core()
    core.add_extension(extension)
    np.testing.assert_array_equal(core.compile_model(model.content, "TEMPLATE")(X)[0], X.clip(-1, 1))


def test_an_extension_comes_before_what_hetero_knows(content):
    core = Core()
    core.add_extension(ConversionExtension("ADD", lambda node: ops.Subtract(*node.get_inputs())))
    np.testing.assert_array_equal(core.compile_model(content, "TEMPLATE")(X)[0], X - BIAS)


def test_attributes_and_version_as_the_schema_has_them(content):
    seen = {}

    def look(node):
        seen["version"] = node.get_opset_version()
        seen["activation"] = node.get_attribute("fused_activation_function", dtype=str)
        seen["there"] = node.has_attribute("beta"), node.get_attribute("beta", 0.5)
        seen["constant"] = node.get_values_from_const_input(1, dtype=int) if node.get_input_size() > 2 else None
        return node.get_input(0)

    core = Core()
    core.add_extension(ConversionExtension("ADD", look))
    core.read_model(content)
    assert seen == {"version": 1, "activation": "1", "there": (False, 0.5), "constant": None}


def test_errors_name_file_operator_and_extension(tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(model_of("Mine", feed(X), outputs=[out(np.float32, X.shape, name="mine")]).content)
    core = Core()
    core.add_extension(ConversionExtension("Mine", lambda node: node.get_attribute("alpha")))
    with pytest.raises(
        FrontendError, match=r"model.tflite: Mine node 'mine': .*test_frontend.py:\d+.*: attribute alpha is missing"
    ):
        core.read_model(path)


def test_nothing_is_logged_for_a_good_model(content, caplog):
    with caplog.at_level(logging.INFO, "hetero"):
        Core().read_model(content)
    assert not caplog.records


def test_extensions_see_what_was_decoded_and_how_far_the_reading_is(content):
    calls = []

    def double(decoded):
        tensor = next(tensor for tensor in decoded.graph.tensors if tensor.data is not None)
        tensor.data = 2 * tensor.data

    core = Core()
    core.add_extension([DecoderTransformationExtension(double), ProgressReporterExtension(lambda *a: calls.append(a))])
    np.testing.assert_array_equal(core.compile_model(content, "TEMPLATE")(X)[0], np.maximum(X + 2 * BIAS, 0))
    assert calls == [(1.0, 1, 1)]


def test_transposes_stay_at_inputs_and_outputs_only():
    weights = np.random.default_rng(0).standard_normal((4, 3, 3, 4)).astype(np.float32)
    options = {"padding": "SAME", "stride_w": 1, "stride_h": 1}
    first = Op("CONV_2D", [feed((1, 8, 8, 4)), constant(weights), constant(BIAS)], **options)
    second = Op("CONV_2D", [*first.outputs, constant(weights), constant(BIAS)], **options)
    third = Op("ADD", [*first.outputs, *second.outputs])
    model = Core().read_model(build(Graph([first, second, third])).content)
    assert sum(node.get_type_name() == "Transpose" for node in model.get_ordered_ops()) == 2
    assert (model.input(0).shape, model.output(0).shape) == ((1, 8, 8, 4), (1, 8, 8, 4))
