"""YAML runs: changed through the parsed tree and as bytes, with the pictures and arrays that they name."""

from __future__ import annotations

import functools
import io
from pathlib import Path

import numpy as np
import onnx
import yaml
from onnx import TensorProto, helper
from PIL import Image

from hetero.run.config import load_config
from hetero.run.runner import run as run_config
from tests.robustness.damage import Files, on_file
from tests.robustness.trees import change_yaml

NAME = "run.yaml"
INPUTS = [
    {"x": {"image": "picture.png", "height": 4, "width": 4, "color": "BGR", "mean": [0.5], "std": [0.5]},
     "n": {"random": {"shape": [2, 3], "seed": 1}}},
    {"x": {"npy": "x.npy"}, "n": {"values": [[1, 2, 3]]}},
    {"x": {"npz": "x.npz", "key": "x"}, "n": {"file": "labels.txt", "beginning": 2, "end": 1, "strip": True}},
    {"x": {"random": {"shape": [1, 3, 4, 4], "low": 0, "high": 1}}, "n": {"random": {"shape": [1, 3]}}},
]  # fmt: skip
OUTPUTS = [
    ["summary", {"npy": "out.npy", "output": "n_out"}],
    [{"top_k": 2, "labels": "labels.txt", "output": "n_out"}, {"npz": "out.npz"}],
    [{"image": "out.png", "layout": "NCHW", "output": "x_out"}],
    ["summary", {"ctc": {"characters": "labels.txt"}, "output": "n_out"}],
]


@functools.cache
def samples() -> list[Files]:
    picture, array, arrays = io.BytesIO(), io.BytesIO(), io.BytesIO()
    Image.fromarray(np.arange(48, dtype=np.uint8).reshape(4, 4, 3)).save(picture, "PNG")
    x = np.ones((1, 3, 4, 4), np.float32)
    np.save(array, x)
    np.savez(arrays, x=x)
    shared = {"model.onnx": _model(), "labels.txt": b"a\nb\nc\n", "picture.png": picture.getvalue(),
              "x.npy": array.getvalue(), "x.npz": arrays.getvalue()}  # fmt: skip
    runs = [
        {"model": "model.onnx", "device": device, "properties": {"PERF_COUNT": True}, "inputs": inputs,
         "outputs": outputs, "affinities": {"x.*": "TEMPLATE"}, "iterations": 2}
        for inputs, outputs, device in zip(INPUTS, OUTPUTS, ["TEMPLATE", "HETERO:TEMPLATE"] * 2)
    ]  # fmt: skip
    for run_on_one in runs[::2]:
        del run_on_one["affinities"]
    return [shared | {NAME: yaml.safe_dump(content).encode()} for content in runs]


def _model() -> bytes:
    values = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, "height", "width"]),
        helper.make_tensor_value_info("n", TensorProto.INT32, ["rows", 3]),
    ]
    nodes = [helper.make_node("Relu", ["x"], ["x_out"], "relu")]
    nodes += [helper.make_node("Cast", ["n"], ["n_out"], "cast", to=TensorProto.FLOAT)]
    outputs = [onnx.ValueInfoProto(name=f"{value.name}_out") for value in values]
    graph = helper.make_graph(nodes, "graph", values, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10).SerializeToString()


def run(folder: Path) -> None:
    config = load_config(folder / NAME)
    run_config(config.model_copy(update={"iterations": min(config.iterations, 3)}))


MUTATORS = {
    "entry": on_file(NAME, change_yaml),
    "more entries": on_file(NAME, change_yaml),
    "bytes of the run": on_file(NAME),
    "bytes of a picture": on_file("picture.png"),
    "bytes of an array": on_file(".npy"),
    "bytes of arrays": on_file(".npz"),
    "bytes of any file": on_file(""),
}
