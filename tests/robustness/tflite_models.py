"""TensorFlow Lite models: changed through the objects of the flatbuffer, its offsets and as bytes."""

from __future__ import annotations

import functools
import struct
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from tests.frontend.tflite.test_damaged_files import sample
from tests.frontend.tflite.writer import packed
from tests.robustness.damage import Files, number, on_file
from tests.robustness.running import read_and_run
from tests.robustness.trees import change_tree

NAME = "model.tflite"
PARTS = 17  # models of two operators each, as small ones make quick cases
UNPACKABLE = (struct.error, TypeError, ValueError, OverflowError, AttributeError, IndexError, AssertionError)


@functools.cache
def samples() -> list[Files]:
    return [{NAME: sample(part, PARTS)} for part in range(PARTS)]


def run(folder: Path) -> None:
    read_and_run(folder / NAME)


def change_objects(files: Files, rng: Random) -> None:
    """Change the objects of the model until there is a change that a file can hold."""
    for _ in range(10):
        try:
            model = schema.ModelT.InitFromPackedBuf(files[NAME])
            _use_lists(model)
            change_tree(model, rng, is_typed=True)
            files[NAME] = packed(model)
            return
        except UNPACKABLE:
            continue


def _use_lists(value: Any) -> None:
    """Turn arrays into lists, whose items can be changed."""
    for key, item in vars(value).items():
        if isinstance(item, np.ndarray):
            setattr(value, key, item.tolist())
        elif isinstance(item, list):
            for part in item:
                if hasattr(part, "__dict__"):
                    _use_lists(part)
        elif hasattr(item, "__dict__"):
            _use_lists(item)


def change_offset(files: Files, rng: Random) -> None:
    """Replace an offset by one to another place in the file, forwards or backwards."""
    content = bytearray(files[NAME])
    place = rng.randrange(max(1, len(content) // 4)) * 4
    content[place : place + 4] = struct.pack("<i", rng.randint(-len(content), len(content)))
    files[NAME] = bytes(content)


def change_constant(files: Files, rng: Random) -> None:
    """Overwrite a number of a constant: a shape, an axis, a size."""
    try:
        model = schema.ModelT.InitFromPackedBuf(files[NAME])
        buffers = [buffer for buffer in model.buffers if buffer.data is not None and len(buffer.data) >= 4]
        buffer = rng.choice(buffers)
        words = np.array(buffer.data, np.uint8)
        place = rng.randrange(len(words) // 4) * 4
        words[place : place + 4] = np.array([number(rng, 32)], np.int32).view(np.uint8)
        buffer.data = words
        files[NAME] = packed(model)
    except UNPACKABLE:
        return


MUTATORS = {
    "bytes": on_file(NAME),
    "objects": change_objects,
    "more objects": change_objects,
    "offset": change_offset,
    "constant": change_constant,
}
