"""Input arrays of a YAML run, compared with numpy, Pillow and the formula."""

import io
import zipfile

import numpy as np
import pytest
from PIL import Image

from hetero.graph import Parameter
from hetero.run.yaml_runs.config import RunConfig
from hetero.run.yaml_runs.inputs import make_inputs
from hetero.system.errors import ConfigError

TEXTS = np.array([["é", "two words"], ["", "x"]])
SHADES = np.linspace(0, 65535, 24).round().reshape(4, 6).astype(np.uint16)
EXIF_ORIENTATION = 0x112
GRADIENT = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)


def header(shape):
    """Return the header of an npy file without elements."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
    return file.getvalue()


@pytest.fixture
def folder(tmp_path):
    Image.fromarray(GRADIENT).save(tmp_path / "small.png")
    Image.new("RGB", (100, 20), (255, 0, 51)).save(tmp_path / "wide.png")
    np.save(tmp_path / "one.npy", np.array([[1.5, 2.0]]))
    np.savez(tmp_path / "two.npz", a=np.array([[1, 2]]), b=np.array([[3, 4]]))
    np.savez(tmp_path / "single.npz", only=np.array([[7, 8]]))
    np.savez(tmp_path / "texts.npz", texts=TEXTS, utf8=np.char.encode(TEXTS, "utf-8"))
    Image.fromarray(SHADES).save(tmp_path / "grey16.png")
    Image.fromarray(SHADES.astype(np.float32) / 7).save(tmp_path / "real.tiff")
    Image.fromarray(SHADES.astype(np.int32) * 100).save(tmp_path / "whole.tiff")
    for orientation in range(1, 9):
        picture = Image.fromarray(GRADIENT)
        exif = picture.getexif()
        exif[EXIF_ORIENTATION] = orientation
        picture.save(tmp_path / f"turned{orientation}.png", exif=exif)
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    (tmp_path / "claims.npy").write_bytes(header((1, 1 << 40)))
    (tmp_path / "short.npy").write_bytes(header((1, 100)))
    (tmp_path / "open.npy").write_bytes(header((1, 2)).replace(b")", b"\0"))
    with zipfile.ZipFile(tmp_path / "damaged.npz", "w") as archive:
        archive.write(tmp_path / "claims.npy", "claims.npy")
        archive.write(tmp_path / "short.npy", "short.npy")
        archive.writestr("text.npy", "no array")
    packed = (tmp_path / "single.npz").read_bytes()
    (tmp_path / "flipped.npz").write_bytes(packed.replace(np.int64(7).tobytes(), np.int64(6).tobytes()))
    (tmp_path / "text").write_bytes(b"  ab\ncd\n ")
    (tmp_path / "long").write_bytes(b" " * 5 + bytes(range(65, 91)) * 400 + b" " * 3)
    (tmp_path / "empty").touch()
    (tmp_path / "model.onnx").touch()
    return tmp_path


def make(folder, spec, element_type="f32", shape=(-1, -1)):
    data = {"model": "model.onnx", "device": "CPU", "inputs": {"x": spec}}
    config = RunConfig.model_validate(data, context={"folder": folder})
    return make_inputs([Parameter(element_type, list(shape), name="x").output(0)], config.inputs).arrays["x"][0]


@pytest.mark.parametrize(
    ("spec", "element_type", "expected"),
    [
        ({"values": [[1, 2]]}, "f32", np.array([[1, 2]], np.float32)),
        ({"values": [[1, 2.0]]}, "i64", np.array([[1, 2]], np.int64)),
        ({"npy": "one.npy"}, "f32", np.array([[1.5, 2]], np.float32)),
        ({"npz": "two.npz", "key": "b"}, "i32", np.array([[3, 4]], np.int32)),
        ({"npz": "single.npz"}, "u8", np.array([[7, 8]], np.uint8)),
        ({"file": "text"}, "u8", np.frombuffer(b"  ab\ncd\n ", np.uint8)[None]),
        ({"file": "text", "strip": True}, "i32", np.array([list(b"ab\ncd")], np.int32)),
        ({"file": "text", "beginning": 2, "end": 3}, "i32", np.array([list(b"  d\n ")], np.int32)),
        (
            {"file": "text", "beginning": 9, "end": 8, "strip": True, "pad": 256},
            "i32",
            np.array([[*b"ab\ncd\n ", 256, 256, 256, *b"  ab\ncd"]], np.int32),
        ),
        (
            {"file": "long", "beginning": 4, "end": 3, "strip": True, "pad": 256},
            "i32",
            np.array([list(b"ABCDXYZ")], np.int32),
        ),
        ({"file": "empty", "beginning": 2, "end": 1, "pad": 256}, "i32", np.full((1, 3), 256, np.int32)),
        (
            {"random": {"shape": [2, 3], "seed": 5}},
            "f32",
            np.random.default_rng(5).standard_normal((2, 3), np.float32),
        ),
        (
            {"random": {"shape": [2, 3], "low": 0, "high": 9}},
            "i64",
            np.random.default_rng(0).integers(0, 9, (2, 3)),
        ),
        (
            {"random": {"shape": [2, 3], "low": 2, "high": 3}},
            "f32",
            np.random.default_rng(0).uniform(2, 3, (2, 3)).astype(np.float32),
        ),
    ],
)
def test_kinds(folder, spec, element_type, expected):
    array = make(folder, spec, element_type)
    assert array.dtype == expected.dtype
    np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("key", ["texts", "utf8"])
def test_texts(folder, key):
    assert make(folder, {"npz": "texts.npz", "key": key}, "string").tolist() == TEXTS.tolist()
    with pytest.raises(ConfigError, match="the model takes f32 elements, but these are"):
        make(folder, {"npz": "texts.npz", "key": key})


def test_random_takes_a_static_shape_from_the_model(folder):
    assert make(folder, {"random": {}}, "i32", (2, 5)).shape == (2, 5)


@pytest.mark.parametrize(
    ("spec", "shape", "expected"),
    [
        ({}, (1, 3, 4, 6), GRADIENT.transpose(2, 0, 1)[None] / 255),
        ({"color": "BGR", "layout": "NHWC"}, (1, 4, 6, 3), GRADIENT[None, :, :, ::-1] / 255),
        (
            {"mean": [0.5, 0.25, 0.1], "std": [0.5, 1, 2], "layout": "HWC"},
            (4, 6, 3),
            (GRADIENT / 255 - [0.5, 0.25, 0.1]) / [0.5, 1, 2],
        ),
        ({"scale": 1, "min_width": 8, "layout": "CHW"}, (3, 4, 8), np.pad(GRADIENT, ((0, 0), (0, 2), (0, 0)))),
        ({"scale": 1, "color": "GRAY"}, (1, 1, 4, 6), np.array(Image.fromarray(GRADIENT).convert("L"))[None, None]),
    ],
)
def test_pictures(folder, spec, shape, expected):
    array = make(folder, {"image": "small.png", **spec}, shape=[-1] * len(shape))
    if spec.get("layout") == "CHW":
        expected = expected.transpose(2, 0, 1)
    assert (array.shape, array.dtype) == (shape, np.float32)
    np.testing.assert_allclose(array, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("file", "expected"),
    [("grey16.png", SHADES / 65535 * 255), ("real.tiff", SHADES / 7), ("whole.tiff", SHADES * 100.0)],
)
def test_pictures_of_other_numbers(folder, file, expected):
    for color, channels in (("GRAY", 1), ("RGB", 3)):
        array = make(folder, {"image": file, "scale": 1, "color": color, "layout": "HWC"}, shape=[-1] * 3)
        np.testing.assert_allclose(array, np.repeat(expected[..., None], channels, 2), rtol=1e-6)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_turned_pictures(folder, orientation):
    """By the table of the EXIF specification: the sides at which row 0 and column 0 of the file are."""
    turned = {
        1: GRADIENT, 2: GRADIENT[:, ::-1], 3: GRADIENT[::-1, ::-1], 4: GRADIENT[::-1],
        5: GRADIENT.swapaxes(0, 1), 6: GRADIENT[::-1].swapaxes(0, 1), 7: GRADIENT[::-1, ::-1].swapaxes(0, 1),
        8: GRADIENT[:, ::-1].swapaxes(0, 1),
    }  # fmt: skip
    expected = turned[orientation]
    options = {"image": f"turned{orientation}.png", "scale": 1, "layout": "HWC"}
    np.testing.assert_array_equal(make(folder, options, shape=[*expected.shape]), expected)


@pytest.mark.parametrize(
    ("size", "shape"),
    [
        ({"height": 10}, (1, 3, 10, 50)),
        ({"width": 50}, (1, 3, 10, 50)),
        ({"height": 10, "width": 30}, (1, 3, 10, 30)),
        ({"height": 10, "min_width": 64}, (1, 3, 10, 64)),
    ],
)
def test_resized_pictures_keep_a_plain_color(folder, size, shape):
    array = make(folder, {"image": "wide.png", **size}, shape=[-1] * 4)
    assert array.shape == shape
    for channel, value in enumerate((1, 0, 0.2)):
        np.testing.assert_allclose(array[0, channel, :, :30], value, rtol=1e-6)


@pytest.mark.parametrize(
    ("spec", "element_type", "parts"),
    [
        ({"values": [[1], [2, 3]]}, "f32", ["rows of different lengths"]),
        ({"values": "abc"}, "f32", ["must be numbers", "abc"]),
        ({"values": [1, 2]}, "f32", ["takes the shape [?,?]", "[2]"]),
        ({"values": [[0.5]]}, "i64", ["takes i64 elements", "float64"]),
        ({"values": [[300]]}, "u8", ["takes u8 elements"]),
        ({"npy": "text"}, "f32", ["text", "not a numpy array"]),
        ({"npy": "empty"}, "f32", ["empty", "not a numpy array"]),
        ({"npy": "objects.npy"}, "f32", ["not a numpy array of numbers or text", "astype(str)"]),
        ({"npy": "open.npy"}, "f32", ["not a numpy array of numbers"]),
        ({"npy": "two.npz"}, "f32", ["is an npz file"]),
        ({"npz": "one.npy"}, "f32", ["is not an npz file"]),
        ({"npz": "two.npz"}, "f32", ["needs a key", "a, b"]),
        ({"npz": "two.npz", "key": "c"}, "f32", ["has no array c", "a, b"]),
        ({"image": "text"}, "f32", ["text is not a picture"]),
        ({"image": "small.png", "mean": [1, 2]}, "f32", ["mean has 2 numbers", "3 color channels"]),
        ({"random": {}}, "f32", ["random needs a shape", "[?,?]"]),
        ({"random": {"shape": [1 << 30, 1 << 28]}}, "f32", ["[1073741824, 268435456] needs more than 4 GiB"]),
        ({"random": {"shape": [1, 1], "low": 0, "high": 1e400}}, "i64", ["infinity"]),
        ({"file": "text", "beginning": 1 << 40, "block": 1 << 40}, "u8", ["needs more than 4 GiB"]),
        ({"npy": "claims.npy"}, "f32", ["[1, 1099511627776] needs more than 4 GiB"]),
        ({"npz": "damaged.npz", "key": "claims"}, "f32", ["[1, 1099511627776] needs more than 4 GiB"]),
        ({"npz": "damaged.npz", "key": "text"}, "f32", ["text in ", "not a numpy array"]),
        ({"npz": "damaged.npz", "key": "short"}, "f32", ["short in ", "is damaged"]),
        ({"npz": "flipped.npz"}, "f32", ["flipped.npz", "CRC"]),
        ({"npy": "short.npy"}, "f32", ["short.npy is damaged"]),
    ],
)
def test_unfit_inputs(folder, spec, element_type, parts):
    with pytest.raises(ConfigError) as caught:
        make(folder, spec, element_type)
    for part in ["inputs.x: ", *parts]:
        assert part in str(caught.value)


@pytest.mark.parametrize("spec", [{"npy": "short.npy"}, {"npz": "damaged.npz", "key": "short"}])
def test_arrays_of_the_wrong_shape_are_not_read(folder, spec):
    with pytest.raises(ConfigError, match=r"takes the shape \[1,3\], but this is \[1, 100\]"):
        make(folder, spec, shape=(1, 3))


@pytest.mark.parametrize(("limit", "size", "part"), [(1500, {}, "exceeds limit"), (2500, {"height": 40}, "200 x 40")])
def test_pictures_of_too_many_pixels(folder, monkeypatch, limit, size, part):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
    with pytest.raises(ConfigError, match=part):
        make(folder, {"image": "wide.png", **size}, shape=[-1] * 4)


def test_names_are_checked(folder):
    port = Parameter("f32", [1], name="data").output(0)
    with pytest.raises(ConfigError, match="no input dada; did you mean data?"):
        make_inputs([port], {"dada": None})
    with pytest.raises(ConfigError, match="missing the model's input data"):
        make_inputs([port], {})
