"""StringTensorPack and StringTensorUnpack, compared with OpenVINO."""

import numpy as np
import openvino
import openvino.opset15 as openvino_ops
import pytest

from hetero import Constant, HeteroError, Parameter, Type, ops
from hetero.reference import evaluate
from tests.ops.oracle import Unknown, both_refuse, same_shapes

TEXTS = [np.array(["one", "", "drei é", "四"]), np.array([["a", "bc"], ["", "d"]]), np.array([], np.str_)]


@pytest.mark.parametrize("texts", TEXTS, ids=["row", "matrix", "nothing"])
def test_unpack_as_openvino_and_back(texts):
    parameter = openvino_ops.parameter(texts.shape, openvino.Type.string)
    node = openvino_ops.string_tensor_unpack(parameter)
    compiled = openvino.compile_model(openvino.Model(list(node.outputs()), [parameter]), "CPU")
    expected = compiled([openvino.Tensor(texts)])
    ours = ops.StringTensorUnpack(Constant(texts))
    found = evaluate(ours, [texts])
    for output, array, wanted in zip(ours.outputs(), found, expected.values(), strict=True):
        assert array.dtype == wanted.dtype == output.element_type.to_dtype()
        np.testing.assert_array_equal(array, wanted)
    begins, ends, symbols = found
    packed = evaluate(ops.StringTensorPack(begins, ends, symbols), found)[0]
    assert packed.tolist() == texts.tolist()


def test_shapes():
    same_shapes("string_tensor_pack", Unknown([2, -1], np.int32), Unknown([-1, 3], np.int32), Unknown([-1], np.uint8),
                opset=15, expected=["[2,3]"])  # fmt: skip
    node = ops.StringTensorUnpack(Parameter(Type.string, [2, -1]))
    assert [str(output.partial_shape) for output in node.outputs()] == ["[2,?]", "[2,?]", "[?]"]


def test_refused():
    begins = Unknown([2], np.int64)
    both_refuse("string_tensor_pack", begins, Unknown([3], np.int64), Unknown([9], np.uint8), opset=15)
    both_refuse("string_tensor_pack", begins, begins, Unknown([9], np.int8), opset=15)
    both_refuse("string_tensor_pack", begins, begins, Unknown([3, 3], np.uint8), opset=15)
    both_refuse("string_tensor_unpack", Unknown([2]), opset=15)
    for kind in (ops.StringSplit, ops.StringNormalizer):
        with pytest.raises(HeteroError, match="input 0 must be a string, but is f32"):
            kind(Parameter(Type.f32, [2]))
    with pytest.raises(HeteroError, match="ngram_size 0 must be positive"):
        ops.SkipGram(Parameter(Type.string, [1]), 0)
