"""Models in the layout of Hugging Face's cache, where each file is a link into another folder; and foreign files."""

import os
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import hetero
from hetero.system.errors import FrontendError
from tests.frontend.onnx.compare import make_model

CORE = hetero.Core()
CASES = Path(__file__).parent
X = np.ones((2, 4), np.float32)
WEIGHTS = np.arange(12, dtype=np.float32).reshape(4, 3)


def external_onnx(folder, location="model.onnx_data"):
    proto = make_model([helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": X})
    proto.graph.initializer.append(numpy_helper.from_array(WEIGHTS, "w"))
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(
        proto, str(folder / "model.onnx"), save_as_external_data=True, location="model.onnx_data", size_threshold=0
    )
    if location != "model.onnx_data":
        proto = onnx.load(str(folder / "model.onnx"), load_external_data=False)
        next(e for e in proto.graph.initializer[0].external_data if e.key == "location").value = location
        (folder / "model.onnx").write_bytes(proto.SerializeToString())
    return folder / "model.onnx"


def into_cache(folder, root):
    """Move the files of a folder into root/blobs, and return a folder with links to them."""
    blobs, snapshot = root / "blobs", root / "snapshots" / "0123abcd"
    blobs.mkdir(parents=True)
    for number, file in enumerate(sorted(path for path in folder.rglob("*") if path.is_file())):
        link = snapshot / file.relative_to(folder)
        link.parent.mkdir(parents=True, exist_ok=True)
        blob = blobs / f"{number:064x}"
        file.rename(blob)
        link.symlink_to(os.path.relpath(blob, link.parent))
    return snapshot


def save_ir(folder):
    hetero.save_model(CORE.read_model(external_onnx(folder / "source")), folder / "model.xml", compress_to_fp16=False)
    shutil.rmtree(folder / "source")
    return "model.xml"


def copy_case(name, model):
    def copy(folder):
        source = CASES / name
        files = source.parent.glob(f"{source.name}.*") if source.suffix == "" and not source.is_dir() else []
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copy(file, folder)
        if source.is_dir():
            shutil.copytree(source, folder, dirs_exist_ok=True)
        return model

    return copy


FORMATS = {
    "onnx": lambda folder: external_onnx(folder).name,
    "onnx in a folder": lambda folder: f"onnx/{external_onnx(folder / 'onnx').name}",
    "ir": save_ir,
    "tensorflow": copy_case("tensorflow/cases/keras", "."),
    "tensorflow with a vocabulary": copy_case("tensorflow/cases/vocabulary", "."),
    "paddle": copy_case("paddle/cases/encoder", "encoder.pdmodel"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_cache_of_links(name, tmp_path):
    """The model that is read through the links is the same as without them."""
    plain = tmp_path / "plain"
    model = FORMATS[name](plain)
    expected = constants(CORE.read_model(plain / model))
    snapshot = into_cache(plain, tmp_path / "cache")
    found = constants(CORE.read_model(snapshot / model))
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        np.testing.assert_array_equal(one, other)


def constants(model):
    return [node.data.copy() for node in model.get_ordered_ops() if node.get_type_name() == "Constant"]


def test_the_result_is_that_of_the_weights(tmp_path):
    external_onnx(tmp_path / "plain")
    snapshot = into_cache(tmp_path / "plain", tmp_path / "cache")
    np.testing.assert_allclose(CORE.compile_model(snapshot / "model.onnx", "TEMPLATE")(X)[0], X @ WEIGHTS)


@pytest.mark.parametrize("location", ["../../../secret.bin", "{root}/secret.bin", "link.bin", "../../secret.bin"])
def test_foreign_files_stay_closed(location, tmp_path):
    """A model in the cache can read neither files outside of it, nor those beside the folder with the blobs."""
    external_onnx(tmp_path / "plain", location.replace("{root}", str(tmp_path)))
    snapshot = into_cache(tmp_path / "plain", tmp_path / "cache")
    for secret in (tmp_path / "secret.bin", tmp_path / "cache" / "secret.bin"):
        secret.write_bytes(WEIGHTS.tobytes())
    (snapshot / "link.bin").symlink_to(tmp_path / "secret.bin")
    with pytest.raises(FrontendError, match="outside of the model's folder"):
        CORE.read_model(snapshot / "model.onnx")


def test_a_folder_of_a_saved_model_that_is_a_link(tmp_path):
    shutil.copytree(CASES / "tensorflow" / "cases" / "vocabulary", tmp_path / "model")
    (tmp_path / "model" / "assets").rename(tmp_path / "elsewhere")
    (tmp_path / "model" / "assets").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FrontendError, match="is a link to a file outside of the model's folder"):
        CORE.read_model(tmp_path / "model")
