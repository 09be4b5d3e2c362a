"""Where the bytes of a tensor are: in raw_data or in another file, by the last values of its fields."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from hetero.frontend.onnx import OnnxFrontEnd
from hetero.frontend.onnx.wire import MIN_DETACHED_SIZE
from tests.frontend.onnx.compare import make_model, run_onnxruntime, run_reference

X = np.arange(MIN_DETACHED_SIZE, dtype=np.float32)
WEIGHTS = np.random.default_rng(0).standard_normal(X.size).astype(np.float32)
OTHER = X[::-1].copy()


def proto_of(tensor, as_constant=False):
    """A model that adds the tensor to x; with ``as_constant`` the tensor is in a Constant node."""
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    if as_constant:
        nodes.insert(0, helper.make_node("Constant", [], ["w"], value=tensor))
    proto = make_model(nodes, {"x": X})
    if not as_constant:
        proto.graph.initializer.append(tensor)
    return proto


@pytest.mark.parametrize("as_constant", [False, True], ids=["initializer", "constant"])
def test_a_model_that_was_external_once(as_constant, tmp_path):
    """onnx.load sets data_location = DEFAULT on tensors read from other files, and writes it after raw_data."""
    proto = proto_of(numpy_helper.from_array(WEIGHTS, "w"), as_constant)
    external, single = str(tmp_path / "external.onnx"), str(tmp_path / "single.onnx")
    onnx.save(proto, external, save_as_external_data=True, size_threshold=0, convert_attribute=True)
    onnx.save(onnx.load(external), single)
    for path in (external, single):
        found = run_reference(OnnxFrontEnd().convert(path), {"x": X})["y"]
        np.testing.assert_array_equal(found, run_onnxruntime(path, {"x": X})["y"])


def field(number, kind, payload):
    return helper_varint(number << 3 | kind) + (helper_varint(len(payload)) + payload if kind == 2 else payload)


def helper_varint(value):
    return bytes([value & 0x7F | 0x80]) + helper_varint(value >> 7) if value > 0x7F else bytes([value])


RAW, OTHER_RAW, SMALL = (field(9, 2, array.tobytes()) for array in (WEIGHTS, OTHER, np.float32([7])))
DEFAULT, EXTERNAL = field(14, 0, b"\0"), field(14, 0, b"\1")
LEFT_OVER = field(13, 2, onnx.StringStringEntryProto(key="location", value="gone.bin").SerializeToString())
FIELDS = {
    "DEFAULT before": DEFAULT + RAW,
    "DEFAULT after": RAW + DEFAULT,
    "EXTERNAL, then DEFAULT": EXTERNAL + RAW + DEFAULT,
    "a location of a file that does not count": LEFT_OVER + RAW + DEFAULT,
    "two values": OTHER_RAW + RAW,
    "a small value before": SMALL + RAW,
}


@pytest.mark.parametrize("name", FIELDS)
def test_the_last_value_of_a_field_counts(name):
    shape = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=WEIGHTS.shape).SerializeToString()
    tensor = TensorProto.FromString(shape + FIELDS[name])
    np.testing.assert_array_equal(numpy_helper.to_array(tensor), WEIGHTS)  # protobuf's own reading
    # Written by hand: protobuf keeps only the last values.
    content = make_model([helper.make_node("Add", ["x", "w"], ["y"])], {"x": X}).SerializeToString()
    content += field(7, 2, field(5, 2, shape + FIELDS[name]))
    found = run_reference(OnnxFrontEnd().convert(content), {"x": X})["y"]
    np.testing.assert_array_equal(found, X + WEIGHTS)


def test_a_small_last_value_replaces_a_large_one():
    shape = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1]).SerializeToString()
    content = make_model([helper.make_node("Add", ["x", "w"], ["y"])], {"x": X}).SerializeToString()
    content += field(7, 2, field(5, 2, shape + RAW + SMALL))
    np.testing.assert_array_equal(run_reference(OnnxFrontEnd().convert(content), {"x": X})["y"], X + 7)


def test_a_file_counts_more_than_bytes_in_the_model(tmp_path):
    """As in the onnx package and in ONNX Runtime."""
    tensor = numpy_helper.from_array(WEIGHTS, "w")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="other.bin")
    (tmp_path / "other.bin").write_bytes(OTHER.tobytes())
    (tmp_path / "model.onnx").write_bytes(proto_of(tensor).SerializeToString())
    found = run_reference(OnnxFrontEnd().convert(tmp_path / "model.onnx"), {"x": X})["y"]
    np.testing.assert_array_equal(found, run_onnxruntime(str(tmp_path / "model.onnx"), {"x": X})["y"])
