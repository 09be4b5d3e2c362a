"""The model cache and the cache of kernel binaries: damaged files are rewritten, and results stay correct."""

from __future__ import annotations

import functools
import json
import os
import tempfile
from pathlib import Path

import numpy as np
from hetero_opencl.device.caches import BinaryCache

from hetero import Core, save_model
from tests.dispatch.faulty import X, Y, chain
from tests.robustness.damage import Files, on_file
from tests.robustness.trees import change_json

MODEL, KERNEL = "model.xml", "kernel"
BINARY = bytes(range(256)) * 4
# The cache knows a model file by its path and the time of its last change, so cases give it these.
PATH, CHANGED = "PATH-OF-THE-MODEL", 10**18


@functools.cache
def samples() -> list[Files]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_model(chain(), folder / MODEL, compress_to_fp16=False)
        _compile(folder)
        BinaryCache(folder, {}).store(KERNEL, BINARY)
        files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
        cached = {f"cached{path.suffix}": path.read_bytes() for path in (folder / "cache").iterdir()}
        cached["cached.json"] = cached["cached.json"].replace(_path_of(folder), PATH.encode())
        return [files | cached]


def _path_of(folder: Path) -> bytes:
    return json.dumps(os.path.abspath(folder / MODEL))[1:-1].encode()


def _compile(folder: Path) -> np.ndarray:
    for file in folder.glob("model.*"):
        os.utime(file, ns=(CHANGED, CHANGED))
    return Core().compile_model(folder / MODEL, "TEMPLATE", {"CACHE_DIR": folder / "cache"})(X)[0]


def run(folder: Path) -> None:
    _compile(folder)  # creates the files of the cache, under their names
    for path in (folder / "cache").iterdir():
        path.write_bytes((folder / f"cached{path.suffix}").read_bytes().replace(PATH.encode(), _path_of(folder)))
    for _ in range(2):  # the second compilation uses what the first has cached
        np.testing.assert_allclose(_compile(folder), Y, rtol=1e-6)
    assert BinaryCache(folder, {}).get(KERNEL) in (BINARY, None)


MUTATORS = {
    "entry": on_file(".json", change_json),
    "bytes of the entries": on_file("cached.json"),
    "bytes of the blob": on_file("cached.blob"),
    "bytes of the kernel": on_file(KERNEL),
}
