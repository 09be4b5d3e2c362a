"""NonMaxSuppression against ONNX Runtime, and images that ImageDecoder reads."""

from io import BytesIO

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from PIL import Image

import hetero
from tests.frontend.onnx.compare import assert_close, make_model, run_onnxruntime

RNG = np.random.default_rng(0)
CORNERS = RNG.uniform(0, 1, (2, 50, 4)).astype(np.float32)
SCORES = (RNG.permutation(300).reshape(2, 3, 50) / 300).astype(np.float32)
LIMITS = {
    "nothing given": {},
    "a limit": {"most": np.array([4], np.int64)},
    "all": {"most": np.array([9], np.int64), "overlap": np.float32([0.3]), "least": np.float32([0.4])},
    "scores only": {"most": np.array([50], np.int64), "least": np.float32([0.8])},
}


def compiled(proto):
    return hetero.Core().compile_model(proto, "TEMPLATE")


@pytest.mark.parametrize("opset", [10, 11])
@pytest.mark.parametrize("center", [0, 1])
@pytest.mark.parametrize("name", LIMITS)
def test_non_max_suppression(name, center, opset):
    given = LIMITS[name]
    names = [part if part in given else "" for part in ("most", "overlap", "least")]
    node = helper.make_node("NonMaxSuppression", ["boxes", "scores", *names], ["y"], center_point_box=center)
    inputs = {"boxes": CORNERS, "scores": SCORES}
    proto = make_model([node], inputs, initializers=given, opset=opset)
    found = compiled(proto)(inputs)
    assert_close({"y": found[0]}, run_onnxruntime(proto, inputs))


def decoder(pixel_format):
    node = helper.make_node("ImageDecoder", ["x"], ["y"], pixel_format=pixel_format)
    info = helper.make_tensor_value_info("x", TensorProto.UINT8, ["n"])
    graph = helper.make_graph([node], "graph", [info], [onnx.ValueInfoProto(name="y")])
    return compiled(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9))


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "PPM"])
@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "P", "1"])
def test_images_of_all_modes(kind, mode):
    if (kind in ("BMP", "PPM") and mode == "RGBA") or (kind == "PPM" and mode == "P"):
        mode = "RGB"  # these files have no such mode
    image = Image.fromarray(RNG.integers(0, 256, (5, 7, 3), np.uint8)).convert(mode)
    stream = BytesIO()
    image.save(stream, kind)
    data = np.frombuffer(stream.getvalue(), np.uint8)
    colors = np.asarray(image.convert("RGB"))
    np.testing.assert_array_equal(decoder("RGB")([data])[0], colors)
    np.testing.assert_array_equal(decoder("BGR")([data])[0], colors[..., ::-1])
    np.testing.assert_array_equal(decoder("Grayscale")([data])[0], np.asarray(image.convert("L"))[..., None])


@pytest.mark.parametrize("length", [0, 10, 60])
def test_damaged_images_are_empty(length):
    stream = BytesIO()
    Image.fromarray(RNG.integers(0, 256, (20, 20, 3), np.uint8)).save(stream, "PNG")
    data = np.frombuffer(stream.getvalue()[:length], np.uint8)
    assert decoder("RGB")([data])[0].shape == (0, 0, 3)
    assert decoder("Grayscale")([data])[0].shape == (0, 0, 1)


def test_images_that_fill_the_memory_are_refused():
    header = b"BM" + bytes(8) + (54).to_bytes(4, "little") + (40).to_bytes(4, "little")
    header += (60000).to_bytes(4, "little") * 2 + b"\1\0\x18\0" + bytes(24)
    with pytest.raises(hetero.HeteroError, match="the image is too large"):
        decoder("RGB")([np.frombuffer(header, np.uint8)])


def test_inputs_other_than_bytes_are_refused():
    node = helper.make_node("ImageDecoder", ["x"], ["y"])
    with pytest.raises(hetero.HeteroError, match="input 0 must be u8"):
        compiled(make_model([node], {"x": np.zeros(3, np.float32)}, opset=20))
