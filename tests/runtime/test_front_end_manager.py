"""FrontEndManager: frontends by name and by content of a model."""

import io
import re
import struct
import zipfile

import pytest

import hetero
from hetero.frontend import FrontEnd
from hetero.frontend.onnx import OnnxFrontEnd
from hetero.plugin import installed_plugins
from hetero.runtime import Core, FrontEndManager
from hetero.system.errors import FrontendError
from tests import zoo


class Broken(FrontEnd):
    """A frontend whose methods raise."""

    name = "broken"

    def supported(self, source):
        raise ZeroDivisionError("cannot tell")

    def convert(self, source, weights=None):
        raise AssertionError("must not be called")


def missing():
    raise ModuleNotFoundError("No module named 'flatbuffers'")


@pytest.fixture
def _two_that_fail(monkeypatch):
    registry = installed_plugins()
    monkeypatch.setattr(registry, "frontends", [missing, Broken, *registry.frontends])


def test_formats_by_name():
    manager = hetero.FrontEndManager()
    assert {"onnx", "ir", "tflite"} <= set(manager.get_available_front_ends())
    assert manager.load_by_framework("onnx").get_name() == "onnx"
    assert manager.load_by_framework("tensorflow_lite").name == manager.load_by_framework("tflite").name == "tflite"
    with pytest.raises(FrontendError, match="there is no frontend caffe; there are onnx, ir"):
        manager.load_by_framework("caffe")


def test_format_is_detected_by_content_not_by_suffix(tmp_path):
    disguised = tmp_path / "model.tflite"
    disguised.write_bytes(zoo.path("squeezenet").read_bytes())
    manager = FrontEndManager()
    with open(disguised, "rb") as file:
        for source in (disguised, str(disguised), disguised.read_bytes(), file):
            assert isinstance(manager.load_by_model(source), OnnxFrontEnd)
        assert file.tell() == 0
    assert len(Core().read_model(disguised).inputs) == 1


@pytest.mark.parametrize(
    ("source", "name"),
    [(b"nothing known", "the given bytes"), (io.BytesIO(b""), "the given BytesIO"), (7, "the given int")],
)
def test_sources_of_unknown_format(source, name):
    with pytest.raises(FrontendError, match=f"{name} is in none of the known formats: there are onnx, ir"):
        FrontEndManager().load_by_model(source)


def test_files_of_unknown_format(tmp_path):
    with pytest.raises(FrontendError, match="there is no model file .*nowhere"):
        FrontEndManager().load_by_model(tmp_path / "nowhere")
    with pytest.raises(FrontendError, match="is in none of the known formats"):
        FrontEndManager().load_by_model(tmp_path)


def archive(*names):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as members:
        for name in names:
            members.writestr(name, b"")
    return file.getvalue()


@pytest.mark.parametrize(("suffix", "content", "message"), [
    ("pt", archive("m/data.pkl", "m/code/m.py", "m/constants.pkl"), "a TorchScript archive: .* torch.jit.load"),
    ("pth", archive("m/data.pkl", "m/data/0"), "a file of torch.save, .* could run code: .* convert_model"),
    ("pth", b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.", "a file of torch.save"),
    ("keras", archive("config.json", "model.weights.h5"), r"a Keras model: .* model\.export"),
    ("h5", b"\x89HDF\r\n\x1a\n" + bytes(8), r"an HDF5 file of a Keras model .* model\.export"),
    ("safetensors", struct.pack("<Q", 2) + b"{}", "weights in safetensors, .* convert_model"),
    ("gguf", b"GGUF\3\0\0\0" + bytes(16), "weights in GGUF, without the operators .* ONNX or OpenVINO IR"),
    ("onnx", b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS, .* git lfs pull"),
    ("zip", archive("other"), "in none of the known formats"), ("zip", b"PK", "in none of the known formats"),
])  # fmt: skip
def test_files_with_advice(suffix, content, message, tmp_path):
    path = tmp_path / f"m.{suffix}"
    path.write_bytes(content)
    for source, name in [(path, str(path)), (content, "the given bytes"), (io.BytesIO(content), "the given BytesIO")]:
        with pytest.raises(FrontendError, match=f"^{re.escape(name)} is {message}"):
            Core().read_model(source)


@pytest.mark.usefixtures("_two_that_fail")
def test_failing_frontends_are_skipped():
    manager = FrontEndManager()
    assert isinstance(manager.load_by_model(zoo.path("squeezenet")), OnnxFrontEnd)
    failed = r"; these failed: .*test_front_end_manager \(ModuleNotFoundError: .*\); broken \(ZeroDivisionError: .*\)"
    with pytest.raises(FrontendError, match=failed):
        manager.load_by_model(b"nothing known")


def test_frontend_accepts_extensions():
    from hetero.frontend import ConversionExtension, OpExtension

    frontend = FrontEndManager().load_by_framework("onnx")
    relu, other = OpExtension("Relu"), ConversionExtension("Relu", lambda node: None, framework="paddle")
    frontend.add_extension(relu)
    frontend.add_extension([other])
    assert list(frontend.extensions) == [relu]
    frontend.add_extension(type("Own", (hetero.Op,), {}))
    assert [extension.get_op_type() for extension in frontend.extensions] == ["Relu", "Own"]
    assert not FrontEndManager().load_by_framework("onnx").extensions
