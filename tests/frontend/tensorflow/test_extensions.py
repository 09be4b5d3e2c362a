"""Extensions for operators of TensorFlow: by type, with named outputs, and for functions."""

import numpy as np
import pytest

from hetero import Core, OpExtension, Type, ops
from hetero.frontend import ConversionExtension, NamedOutput
from hetero.system.errors import FrontendError
from tests.frontend.tensorflow.test_damaged_files import X, node

ARRAY = np.array([-1, 2], np.float32)


def results(text, *extensions):
    core = Core()
    for extension in extensions:
        core.add_extension(extension)
    return core.compile_model(text.encode(), "TEMPLATE")([ARRAY]).to_tuple()


def test_an_operation_of_another_name():
    text = X + node("a", "MyElu", "x", factor="f: 0.5")
    extension = OpExtension("Elu", "MyElu", {"alpha": "factor"}, framework="tensorflow")
    np.testing.assert_allclose(results(text, extension)[0], [0.5 * np.expm1(-1), 2], rtol=1e-6)


def test_the_other_name_of_the_frontend():
    text = X + node("a", "MyRelu", "x")
    assert results(text, OpExtension("Relu", "MyRelu", framework="tf"))[0].tolist() == [0, 2]


def test_attributes():
    seen = {}

    def convert(context):
        names = ("i", "f", "b", "s", "t", "shape", "list", "tensor")
        seen.update({name: context.get_attribute(name) for name in names})
        return ops.Relu(context.get_input(0))

    attributes = dict(
        i="i: 3", f="f: 0.5", b="b: false", s='s: "text"', t="type: DT_HALF", shape="shape { dim { size: -1 } }",
        list="list { i: 1 i: 2 }", tensor="tensor { dtype: DT_INT64 tensor_shape { dim { size: 2 } } int64_val: 7 }",
    )  # fmt: skip
    results(X + node("a", "My", "x", **attributes), ConversionExtension("My", convert))
    assert (seen["i"], seen["f"], seen["b"], seen["s"], seen["t"]) == (3, 0.5, False, "text", Type.f16)
    assert str(seen["shape"]) == "[?]" and seen["list"] == [1, 2] and seen["tensor"].tolist() == [7, 7]


def test_named_outputs():
    def convert(context):
        top = ops.TopK(context.get_input(0), context.get_input(1), -1, "max", "value", Type.i32)
        return [NamedOutput("values", top.output(0)), NamedOutput("indices", top.output(1))]

    count = node("k", "Const", dtype="type: DT_INT32", value="tensor { dtype: DT_INT32 tensor_shape { } int_val: 1 }")
    text = X + count + node("top", "TopKV2", "x", "k")
    values, indices = results(text, ConversionExtension("TopKV2", convert))
    assert (values.tolist(), indices.tolist()) == ([2], [1])


def test_an_extension_replaces_a_translator():
    extension = ConversionExtension("Relu", lambda context: ops.Abs(context.get_input(0)))
    assert results(X + node("a", "Relu", "x"), extension)[0].tolist() == [1, 2]


def test_an_error_of_a_converter_names_the_extension():
    def convert(context):
        return context.get_attribute("absent")

    with pytest.raises(FrontendError, match=r"My node 'a': ConversionExtension of My .*attribute absent is missing"):
        results(X + node("a", "My", "x"), ConversionExtension("My", convert))
