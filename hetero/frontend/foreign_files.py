"""Files that no frontend reads although they belong to a model: what they are, and what to do instead."""

from __future__ import annotations

import io
import zipfile

from hetero.frontend.frontend import ModelSource
from hetero.frontend.source import read_source
from hetero.system.errors import FrontendError

_CONVERT = "in Python, give {} to convert_model with example_input, or save what torch.export.export returns as .pt2"
# By the first bytes of a file.
_BEGINNINGS = {
    b"GGUF": "weights in GGUF, without the operators that use them: export the model to ONNX or OpenVINO IR",
    b"\x89HDF\r\n": "an HDF5 file of a Keras model or its weights: load it with Keras, and save a SavedModel with "
                    "model.export(folder)",
    b"version https://git-lfs": "a pointer of Git LFS, not the file itself: fetch that with git lfs pull",
}  # fmt: skip
# By the end of the name of a file in a zip archive; the first one counts.
_MEMBERS = {
    "constants.pkl": f"a TorchScript archive: {_CONVERT.format('the module that torch.jit.load returns')}",
    "data.pkl": "a file of torch.save, which has weights or a pickled module, which is not read, as it could run code: "
                f"{_CONVERT.format('the torch.nn.Module with these weights')}",
    "model.weights.h5": "a Keras model: load it with Keras, and save a SavedModel with model.export(folder)",
}  # fmt: skip


def describe_foreign_file(source: ModelSource) -> str | None:
    """Return what a source is and what to do with it, by its content; None if it is no file or not known."""
    try:
        data = read_source(source, "unknown", keep_position=True).data
    except FrontendError:
        return None
    for beginning, description in _BEGINNINGS.items():
        if bytes(data[: len(beginning)]) == beginning:
            return description
    if bytes(data[:2]) == b"PK":
        return _describe_archive(data)
    if _is_safetensors(data):
        return ("weights in safetensors, without the operators that use them: "
                f"{_CONVERT.format('the torch.nn.Module with these weights')}")  # fmt: skip
    # Files of torch.save from before version 1.6 are a pickled number.
    return _MEMBERS["data.pkl"] if bytes(data[:2]) == b"\x80\x02" else None


def _describe_archive(data: memoryview) -> str | None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return None
    return next((text for end, text in _MEMBERS.items() if any(name.endswith(end) for name in names)), None)


def _is_safetensors(data: memoryview) -> bool:
    """Return whether bytes begin with the length of a header and the header, which is a JSON object."""
    return 0 < int.from_bytes(data[:8], "little") <= len(data) - 8 and bytes(data[8:10]) in (b'{"', b"{}")
