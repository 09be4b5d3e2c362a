"""INFERENCE_PRECISION_HINT f16: the error of the results, and what stays f32."""

import numpy as np
import pytest
from hetero_opencl.compile.fp16 import convert_to_fp16

import hetero
from hetero import Constant, Model, Parameter, Type, ops, opset13
from hetero import properties as props
from tests import zoo

CORE = hetero.Core()
RNG = np.random.default_rng(0)
# The relative rounding error of f16, which has 11 significant bits.
ROUNDING = 2.0**-11


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def both(device, model, *arrays):
    """The first result in f32 and in f16, and the model that ran in f16."""
    whole = CORE.compile_model(model, device)(list(arrays))[0]
    halved = CORE.compile_model(model, device, {props.hint.inference_precision: Type.f16})
    assert halved.get_property(props.hint.inference_precision) is Type.f16
    assert [port.element_type for port in (*halved.inputs, *halved.outputs)] == [
        port.element_type for port in (*model.inputs, *model.outputs)
    ]
    return whole, halved(list(arrays))[0], halved.get_runtime_model()


def types_of(model):
    """The element type of every operation by its name."""
    return {node.friendly_name: node.get_output_element_type(0) for node in model.get_ordered_ops()}


# The number of products on the longest path of each network.
@pytest.mark.parametrize(("name", "depth"), [("squeezenet", 18), ("resnet50", 50)])
def test_networks_agree_with_f32(device, name, depth):
    """The error is at most one rounding per product."""
    model = CORE.read_model(zoo.path(name))
    for node in model.get_ordered_ops():
        if isinstance(node, ops.BatchNormInference):
            # Seeded random weights let numbers grow to 150,000, which f16 does not hold; trained ones do not.
            for index in (1, 2):
                scaled = Constant(node.input_value(index).node.data * np.float32(0.5))
                node.input(index).replace_source_output(scaled.output(0))
    whole, halved, ran = both(device, model, *zoo.inputs(name).values())
    assert np.abs(halved - whole).max() < depth * ROUNDING * np.abs(whole).max()
    assert halved.argmax() == whole.argmax()
    kinds = list(types_of(ran).values())
    assert kinds.count(Type.f16) > 0.9 * len(kinds)


def test_devices_report_the_capability(device):
    assert "FP16" in CORE.get_property(device, props.device.capabilities)


def test_operations_with_numbers_outside_f16_stay_f32(device):
    """A mask of the least float, and the epsilon of a normalization made of single operations."""
    x = Parameter(Type.f32, [4, 8])
    product = ops.MatMul(x, Constant(floats(8, 8)), False, False)
    mask = np.where(np.eye(4, 8, dtype=np.bool_), np.finfo(np.float32).min, np.float32(0))
    masked = ops.Add(product, Constant(mask), name="masked")
    softmax = ops.Softmax(masked, 1)
    centred = ops.Subtract(softmax, ops.ReduceMean(softmax, Constant(np.array([1])), True))
    variance = ops.ReduceMean(ops.Multiply(centred, centred, name="square"), Constant(np.array([1])), True)
    deviation = ops.Sqrt(ops.Add(variance, Constant(np.float32(1e-12)), name="above zero"))
    model = Model([ops.Divide(centred, deviation)], [x])
    whole, halved, ran = both(device, model, floats(4, 8))
    np.testing.assert_allclose(halved, whole, atol=20 * ROUNDING * np.abs(whole).max())
    kinds = types_of(ran)
    assert kinds[product.friendly_name] is Type.f16
    assert {kinds.get(name, Type.f32) for name in ("masked", "square", "above zero")} == {Type.f32}


def test_operations_that_compute_shapes_stay_f32(device):
    x = Parameter(Type.f32, [1, 2, 9, 9])
    product = ops.Convolution(x, Constant(floats(2, 2, 3, 3)), [1, 1], [1, 1], [1, 1], [1, 1])
    scales = Constant(np.float32([1.3333334, 11 / 9]))  # of which f16 would make 11 and 10 rows
    node = opset13.interpolate(product, scales, "linear_onnx", "scales", axes=Constant(np.array([2, 3])))
    whole, halved, _ = both(device, Model([node], [x]), floats(1, 2, 9, 9))
    assert halved.shape == whole.shape
    np.testing.assert_allclose(halved, whole, atol=8 * ROUNDING * np.abs(whole).max())


def test_operations_without_an_f16_kernel_stay_f32():
    x = Parameter(Type.f32, [1, 2, 8, 8])
    product = ops.Convolution(x, Constant(floats(2, 2, 3, 3)), [1, 1], [1, 1], [1, 1], [1, 1], name="product")
    pool = ops.MaxPool(product, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2], name="pool").output(0)
    model = Model([ops.MatMul(ops.Relu(pool, name="relu"), pool, False, True, name="last")], [x])

    def refuse(node):
        halves = Type.f16 in (value.element_type for value in node.input_values())
        return "no kernel" if isinstance(node, ops.MaxPool) and halves else None

    assert convert_to_fp16(model, refuse)
    kinds = types_of(model)
    expected = {"product": Type.f16, "pool": Type.f32, "relu": Type.f32, "last": Type.f16}
    assert {name: kinds[name] for name in expected} == expected
    assert [port.element_type for port in (*model.inputs, *model.outputs)] == [Type.f32, Type.f32]


def test_bodies(device):
    x, condition = Parameter(Type.f32, [4, 8]), Parameter(Type.boolean, [])
    node, weights = ops.If(condition), floats(8, 8)
    for setter, factor in ((node.set_then_body, 1), (node.set_else_body, 2)):
        inner = Parameter(Type.f32, [4, 8])
        setter(Model([ops.MatMul(inner, Constant(weights * np.float32(factor)), False, False)], [inner]))
    node.set_input(x, *(body.parameters[0] for body in node.bodies))
    result = node.set_output(*(body.results[0] for body in node.bodies))
    data = floats(4, 8)
    model = Model([result], [condition, x])
    for number in (True, False):
        whole, halved, _ = both(device, model, np.array(number), data)
        assert (halved != whole).any()
        np.testing.assert_allclose(halved, whole, atol=20 * ROUNDING * np.abs(whole).max())


def test_a_model_without_products_stays_f32(device):
    x = Parameter(Type.f32, [3])
    whole, halved, _ = both(device, Model([ops.Multiply(ops.Exp(x), x)], [x]), np.float32([5, 11, -2]))
    np.testing.assert_array_equal(halved, whole)
