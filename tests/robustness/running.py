"""Compilation of a model and one inference on inputs of the declared shapes."""

from __future__ import annotations

import math
import zlib
from pathlib import Path

import numpy as np

from hetero import CompiledModel
from hetero.core.containers import ContainerType
from hetero.core.types import Type
from hetero.graph import Output
from tests import peak_memory
from tests.devices import PickyPlugin, core_with

# Models with more input elements are compiled but not run, because the inputs would take too much of the memory limit.
MAX_ELEMENTS = 2**22
# A long Loop is a valid model, but it must be possible to cancel it.
MILLISECONDS_TO_CANCEL = 2000
MEMORY_TO_COMPILE = 1 << 30


class TooMuchMemoryError(Exception):
    """Reading and compiling a small file took more memory than any file of its size needs."""


def read_and_run(path: Path) -> None:
    """Read a model file, compile it for one device or for two, and infer once.

    Raises HeteroError, and TooMuchMemoryError.
    """
    core = core_with(A=PickyPlugin(lambda node: len(node.type_info.name) % 2 == 0))
    device = "HETERO:A,TEMPLATE" if zlib.crc32(path.read_bytes()) % 2 else "TEMPLATE"
    try:
        compiled = core.compile_model(path, device)
    finally:
        used = peak_memory.read()
        if used > MEMORY_TO_COMPILE:
            raise TooMuchMemoryError(f"the process used {used >> 20} MB to read and compile")
    infer_once(compiled)


def infer_once(compiled: CompiledModel) -> None:
    """Infer on random inputs; cancel an inference that takes long."""
    shapes = [_shape(port) for port in compiled.inputs]
    if sum(map(math.prod, shapes)) > MAX_ELEMENTS:
        return
    generator = np.random.default_rng(0)
    request = compiled.create_infer_request()
    request.start_async([_contents(port, shape, generator) for port, shape in zip(compiled.inputs, shapes)])
    if not request.wait_for(MILLISECONDS_TO_CANCEL):
        request.cancel()
    request.wait()


def _shape(port: Output) -> list[int]:
    """Return the declared shape; dynamic dimensions have length 3 or the nearest allowed one."""
    if port.partial_shape.rank.is_dynamic:
        return [2, 3]
    lengths = []
    for dimension in port.partial_shape:
        most = dimension.get_max_length()
        lengths.append(max(dimension.get_min_length(), 3 if most < 0 else min(3, most)))
    return lengths


def _contents(port: Output, shape: list[int], generator: np.random.Generator) -> np.ndarray:
    kind = port.element_type
    if isinstance(kind, ContainerType):
        return kind.empty().item()
    if kind is Type.string:
        return np.full(shape, "some text", kind.to_dtype())
    if kind.is_dynamic() or kind.is_real():
        return generator.standard_normal(shape, np.float32).astype((Type.f32 if kind.is_dynamic() else kind).to_dtype())
    return generator.integers(0, 2, shape).astype(kind.to_dtype())
