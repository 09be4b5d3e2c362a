"""A model's inputs and outputs stay NHWC; between its operators Transposes are removed."""

import numpy as np

from hetero import Core, ops
from tests.frontend.tflite.agreement import assert_as_litert
from tests.frontend.tflite.models import Graph, Op, build, constant, feed, out

STRIDE = {"padding": "SAME", "stride_h": 1, "stride_w": 1}
POOL = {"padding": "VALID", "stride_h": 2, "stride_w": 2, "filter_height": 2, "filter_width": 2}


def network():
    """Return a model of two convolutions, their sum, a pooling and a reshape to rows."""
    rng = np.random.default_rng(0)
    first, second = (constant(rng.standard_normal((6, 3, 3, n)).astype(np.float32)) for n in (3, 6))
    bias = constant(rng.standard_normal(6).astype(np.float32))
    stem = Op("CONV_2D", [feed((1, 8, 8, 3), name="image"), first, bias], [out(name="stem")], **STRIDE,
              fused_activation_function="RELU")  # fmt: skip
    block = Op("CONV_2D", [stem.outputs[0], second, bias], [out(name="block")], **STRIDE)
    both = Op("ADD", [block.outputs[0], stem.outputs[0]], [out(name="both")])
    pooled = Op("MAX_POOL_2D", [both.outputs[0]], [out(name="pooled")], **POOL)
    again = Op("CONV_2D", [pooled.outputs[0], second, bias], [out(name="again")], **STRIDE)
    rows = Op("RESHAPE", [again.outputs[0], constant([1, -1])], [out(name="rows")], new_shape=[1, -1])
    return build(Graph([stem, block, both, pooled, again, rows]))


def test_one_transpose_is_left_at_the_input_and_one_at_the_output():
    model = Core().read_model(network().content)
    nodes = model.get_ordered_ops()
    assert [type(node.input_value(0).node) for node in nodes if isinstance(node, ops.Transpose)] == [
        ops.Parameter,
        ops.Add,
    ]
    assert model.inputs[0].partial_shape == [1, 8, 8, 3]


def test_operations_have_the_names_of_the_file():
    model = Core().read_model(network().content)
    kinds = {node.friendly_name: type(node) for node in model.get_ordered_ops()}
    assert kinds["pooled"] is ops.MaxPool and kinds["both"] is ops.Add and kinds["rows"] is ops.Reshape
    assert kinds["stem"] is ops.Relu
    values = {name: node for node in model.get_ordered_ops() for value in node.outputs() for name in value.names}
    # The value of this name has its channels last in the file, and nobody makes it so.
    assert "pooled" not in values and "rows" in values


def test_it_computes_the_same():
    assert_as_litert(network())
