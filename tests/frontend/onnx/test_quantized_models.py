"""A network quantized by ONNX Runtime's tools, in each of their formats, against ONNX Runtime."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

from hetero import Core
from tests import zoo

NETWORK = "ocr_direction"
SIGNED = {"activation_type": QuantType.QInt8, "weight_type": QuantType.QInt8}
# How the tool is told, and some of the operators that it then writes.
FORMATS = {
    "qdq": ({"quant_format": QuantFormat.QDQ}, {"QuantizeLinear", "DequantizeLinear"}),
    "channels": ({"quant_format": QuantFormat.QDQ, "per_channel": True, **SIGNED}, {"DequantizeLinear"}),
    "operators": (
        {"quant_format": QuantFormat.QOperator},
        {"QLinearConv", "QLinearAdd", "QLinearMul", "QLinearMatMul"},
    ),
    "dynamic": (None, {"ConvInteger", "DynamicQuantizeLinear"}),
}


class Calibration(CalibrationDataReader):
    def __init__(self):
        self.remaining = iter([zoo.inputs(NETWORK)])

    def get_next(self):
        return next(self.remaining, None)


def _onnxruntime(path):
    """Without its optimizations, which replace quantized operators by others that round elsewhere."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("name", FORMATS)
def test_like_onnxruntime(name, tmp_path):
    """Weights have 7 bits, for which ONNX Runtime is exact on processors without VNNI too."""
    options, operators = FORMATS[name]
    path = tmp_path / "quantized.onnx"
    if options is None:
        quantize_dynamic(zoo.path(NETWORK), path, reduce_range=True)
    else:
        quantize_static(zoo.path(NETWORK), path, Calibration(), reduce_range=True, **options)
    proto = onnx.load(path)
    assert operators <= {node.op_type for node in proto.graph.node}
    inputs = zoo.inputs(NETWORK, 5)
    core = Core()
    found = core.compile_model(core.read_model(path), "TEMPLATE")(inputs)
    for output, wanted in zip(proto.graph.output, _onnxruntime(path).run(None, inputs)):
        # Far below a step of the codes, so that all of them are equal.
        np.testing.assert_allclose(found[output.name], wanted, rtol=0, atol=1e-6)
