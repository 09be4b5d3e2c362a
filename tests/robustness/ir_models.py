"""OpenVINO IR: ONNX cases as hetero writes them, changed through the XML tree and as bytes."""

from __future__ import annotations

import contextlib
import functools
import tempfile
from pathlib import Path

import hetero
from tests.frontend.ir.samples import full_model
from tests.robustness import onnx_models
from tests.robustness.damage import Files, on_file
from tests.robustness.running import read_and_run
from tests.robustness.trees import change_xml

XML, BIN = "model.xml", "model.bin"
EVERY = 5  # of the ONNX cases; many differ by an attribute alone


@functools.cache
def samples() -> list[Files]:
    core, found = hetero.Core(), [_written(full_model())]
    for files in onnx_models.samples()[::EVERY]:
        with contextlib.suppress(hetero.HeteroError):  # sequences, which no IR can hold
            found.append(_written(core.read_model(files[onnx_models.NAME])))
    return found


def _written(model: hetero.Model) -> Files:
    with tempfile.TemporaryDirectory() as folder:
        hetero.save_model(model, Path(folder, XML), compress_to_fp16=False)
        return {name: Path(folder, name).read_bytes() for name in (XML, BIN)}


def run(folder: Path) -> None:
    read_and_run(folder / XML)


MUTATORS = {
    "xml": on_file(XML, change_xml),
    "more xml": on_file(XML, change_xml),
    "bytes of the xml": on_file(XML),
    "bytes of the weights": on_file(BIN),
}
