"""Constants of every element type: the same bytes as OpenVINO writes, and the same values when read."""

import numpy as np
import openvino
import pytest

import hetero
from hetero.core.packing import is_packed
from hetero.core.types import Type
from hetero.frontend.ir import IrFrontEnd
from tests.frontend.ir.test_writing import plain_layers

core = openvino.Core()

# Types of ONNX that OpenVINO does not have.
OURS_ALONE = {Type.i2, Type.f6e2m3, Type.f6e3m2, Type.f8e4m3fnuz, Type.f8e5m2fnuz}
THEIRS = [t for t in Type if t not in {Type.dynamic, Type.string} | OURS_ALONE]


def constant_model(array):
    return hetero.Model([hetero.Constant(array, name="constant")], [])


def constant_of(model):
    (result,) = model.results
    return result.input_value(0).node


def any_codes(element_type, shape):
    """An array of random bits, as far as the type has them."""
    codes = np.random.default_rng(0).integers(0, 256, (*shape, element_type.size), np.uint8)
    if element_type is Type.boolean:
        codes &= 1
    elif is_packed(element_type):
        codes &= (1 << element_type.bitwidth) - 1
        if element_type in (Type.i2, Type.i4):
            sign = 1 << (element_type.bitwidth - 1)
            codes = (codes ^ sign) - np.uint8(sign)
    return np.ascontiguousarray(codes).view(element_type.to_dtype()).reshape(shape)


@pytest.mark.parametrize("shape", [(3, 5), (), (8,), (2, 0)], ids=str)
@pytest.mark.parametrize("element_type", THEIRS, ids=str)
def test_the_same_bytes_as_openvino(tmp_path, element_type, shape):
    array = any_codes(element_type, shape)
    hetero.serialize(constant_model(array), tmp_path / "ours.xml")
    openvino.serialize(core.read_model(tmp_path / "ours.xml"), tmp_path / "theirs.xml")
    assert np.fromfile(tmp_path / "ours.bin", np.uint8).tobytes() == (tmp_path / "theirs.bin").read_bytes()
    assert plain_layers(tmp_path / "ours.xml") == plain_layers(tmp_path / "theirs.xml")
    read = constant_of(IrFrontEnd().convert(tmp_path / "theirs.xml"))
    assert (read.get_element_type(), read.data.shape) == (element_type, shape)
    assert read.data.tobytes() == array.tobytes()


@pytest.mark.parametrize("element_type", sorted(OURS_ALONE, key=str), ids=str)
def test_types_of_onnx_come_back(tmp_path, element_type):
    array = any_codes(element_type, (3, 5))
    hetero.serialize(constant_model(array), tmp_path / "model.xml")
    read = constant_of(IrFrontEnd().convert(tmp_path / "model.xml"))
    assert read.get_element_type() is element_type
    assert read.data.tobytes() == array.tobytes()


@pytest.mark.parametrize(
    "texts", [["one", "", "vier, fünf"], [["é\n", "a b "], ["<&>", "x" * 300]], "alone", []], ids=str
)
def test_strings(tmp_path, texts):
    array = np.array(texts, np.str_)
    hetero.serialize(constant_model(array), tmp_path / "ours.xml")
    openvino.serialize(core.read_model(tmp_path / "ours.xml"), tmp_path / "theirs.xml")
    if array.size:  # of nothing, OpenVINO writes one byte at most
        assert (tmp_path / "ours.bin").read_bytes() == (tmp_path / "theirs.bin").read_bytes()
    for name in ("ours", "theirs"):
        read = constant_of(IrFrontEnd().convert(tmp_path / f"{name}.xml"))
        assert read.get_element_type() is Type.string
        np.testing.assert_array_equal(read.data, array)


@pytest.mark.parametrize("element_type", [Type.f32, Type.i64, Type.bf16, Type.u8], ids=str)
def test_constants_are_used_where_they_are(tmp_path, element_type):
    array = any_codes(element_type, (64, 3))
    hetero.serialize(constant_model(array), tmp_path / "model.xml")
    xml, weights = (tmp_path / "model.xml").read_bytes(), (tmp_path / "model.bin").read_bytes()
    read = constant_of(IrFrontEnd().convert(xml, weights)).data
    assert np.shares_memory(read, np.frombuffer(weights, np.uint8))
    assert not read.flags.writeable and read.flags.aligned
