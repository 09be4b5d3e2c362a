"""A third-party model with a custom operator of MediaPipe, translated by an extension in a file."""

from pathlib import Path

import flatbuffers
import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from hetero import Core
from tests import zoo
from tests.frontend.tflite.litert import DEFAULT, LiteRT, assert_close

EXTENSION = Path(__file__).parents[3] / "configs" / "mediapipe_operators.py"


def with_standard_operator(content: bytes) -> bytes:
    """Return the model with the custom operator replaced by TRANSPOSE_CONV, which computes the same."""
    model = schema.ModelT.InitFromPackedBuf(content)
    code = next(code for code in model.operatorCodes if code.customCode == b"Convolution2DTransposeBias")
    code.customCode, code.version = None, 3
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.TRANSPOSE_CONV
    (graph,) = model.subgraphs
    operator = next(o for o in graph.operators if model.operatorCodes[o.opcodeIndex] is code)
    shape = schema.TensorT()
    shape.name, shape.type, shape.shape, shape.buffer = b"shape", schema.TensorType.INT32, [4], len(model.buffers)
    buffer = schema.BufferT()
    buffer.data = graph.tensors[operator.outputs[0]].shape.astype(np.int32).view(np.uint8)
    model.buffers.append(buffer)
    graph.tensors.append(shape)
    data, filters, bias = operator.inputs
    operator.inputs = [len(graph.tensors) - 1, filters, data, bias]
    operator.customOptions = None
    operator.builtinOptionsType = schema.BuiltinOptions.TransposeConvOptions
    operator.builtinOptions = options = schema.TransposeConvOptionsT()
    options.strideW = options.strideH = 2
    builder = flatbuffers.Builder()
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


@pytest.mark.parametrize("device", ["TEMPLATE", "HETERO:GPU,TEMPLATE"])
@pytest.mark.parametrize("name", ["selfie_segmentation", "selfie_segmentation_wide"])
def test_selfie_segmentation(name, device):
    core = Core()
    core.add_extension(EXTENSION)
    inputs = zoo.inputs(name)
    expected = LiteRT(with_standard_operator(zoo.path(name).read_bytes()), DEFAULT)(inputs)
    found = core.compile_model(zoo.path(name), device)(inputs)
    assert_close({key: found[key] for key in expected}, expected, tolerance=1e-4)
