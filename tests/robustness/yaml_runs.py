"""YAML runs: changed through the parsed tree and as bytes, with the pictures and arrays that they name."""

from __future__ import annotations

import functools
import io
import wave
from pathlib import Path

import numpy as np
import onnx
import yaml
from onnx import TensorProto, helper
from PIL import Image

from hetero.run.yaml_runs.config import load_config
from hetero.run.yaml_runs.runner import run as run_config
from tests.robustness.damage import Files, on_file
from tests.robustness.trees import change_yaml

NAME = "run.yaml"
INPUTS = [
    {"x": {"image": "picture.png", "height": 4, "width": 4, "color": "BGR", "mean": [0.5], "std": [0.5]},
     "n": {"random": {"shape": [2, 3], "seed": 1}}},
    {"x": {"npy": "x.npy"}, "n": {"values": [[1, 2, 3]]}},
    {"x": {"npz": "x.npz", "key": "x"}, "n": {"file": "labels.txt", "beginning": 2, "end": 1, "strip": True}},
    {"x": {"random": {"shape": [1, 3, 4, 4], "low": 0, "high": 1}}, "n": {"random": {"shape": [1, 3]}}},
    {"x": {"npy": "x.npy"}, "n": {"sound": "silence.wav", "chunk": 3, "step": 2, "before": 1}},
]  # fmt: skip
OUTPUTS = [
    ["summary", {"npy": "out.npy", "output": "n_out"}],
    [{"top_k": 2, "labels": "labels.txt", "output": "n_out"}, {"npz": "out.npz"}],
    [{"image": "out.png", "layout": "NCHW", "output": "x_out"}],
    ["summary", {"ctc": {"characters": "labels.txt"}, "output": "n_out"}],
    [{"npz": "out.npz"}, "summary"],
]
CHAIN = {
    "device": "TEMPLATE",
    "models": {
        "a": {"include": "one.yaml", "outputs": ["summary"]},
        "b": {"model": "model.onnx", "inputs": {
            "x": {"crops": {"from": "a.mean", "threshold": 0.1, "min_score": 0.2}, "height": 5, "min_width": 6},
            "n": {"from": "a.n_out"},
        }},
    },
}  # fmt: skip
SINGLE = {
    "model": "model.onnx",
    "device": "${DEVICE_OF_A_RUN:-TEMPLATE}",
    "inputs": {"x": {"image": "picture.png", "height": 16, "width": 16, "scale": 48}, "n": {"values": [[1, 2, 3]]}},
}


@functools.cache
def samples() -> list[Files]:
    picture, array, arrays = io.BytesIO(), io.BytesIO(), io.BytesIO()
    Image.fromarray(np.arange(48, dtype=np.uint8).reshape(4, 4, 3)).save(picture, "PNG")
    x = np.ones((1, 3, 4, 4), np.float32)
    np.save(array, x)
    np.savez(arrays, x=x)
    with wave.open(sound := io.BytesIO(), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(100)
        file.writeframes(bytes(40))
    shared = {"model.onnx": _model(), "labels.txt": b"a\nb\nc\n", "picture.png": picture.getvalue(),
              "x.npy": array.getvalue(), "x.npz": arrays.getvalue(), "silence.wav": sound.getvalue(),
              "one.yaml": yaml.safe_dump(SINGLE).encode()}  # fmt: skip
    runs = [
        {"model": "model.onnx", "device": device, "properties": {"PERF_COUNT": True}, "inputs": inputs,
         "outputs": outputs, "affinities": {"rel*": "TEMPLATE"}, "iterations": 2}
        for inputs, outputs, device in zip(INPUTS, OUTPUTS, ["TEMPLATE", "HETERO:TEMPLATE"] * 3)
    ]  # fmt: skip
    for run_on_one in runs[::2]:
        del run_on_one["affinities"]
    return [shared | {NAME: yaml.safe_dump(content).encode()} for content in [*runs, CHAIN]]


def _model() -> bytes:
    values = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, "height", "width"]),
        helper.make_tensor_value_info("n", TensorProto.INT32, ["rows", 3]),
    ]
    nodes = [helper.make_node("Relu", ["x"], ["x_out"], "relu")]
    nodes += [helper.make_node("ReduceMean", ["x", "axis"], ["mean"], "mean")]
    nodes += [helper.make_node("Cast", ["n"], ["n_out"], "cast", to=TensorProto.FLOAT)]
    outputs = [onnx.ValueInfoProto(name=name) for name in ("x_out", "n_out", "mean")]
    axis = helper.make_tensor("axis", TensorProto.INT64, [1], [1])
    graph = helper.make_graph(nodes, "graph", values, outputs, [axis])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10).SerializeToString()


def run(folder: Path) -> None:
    config = load_config(folder / NAME)
    run_config(config.model_copy(update={"iterations": min(config.iterations, 3)}))


MUTATORS = {
    "entry": on_file(NAME, change_yaml),
    "more entries": on_file(NAME, change_yaml),
    "bytes of the run": on_file(NAME),
    "entry of an included file": on_file("one.yaml", change_yaml),
    "bytes of a sound": on_file("silence.wav"),
    "bytes of a picture": on_file("picture.png"),
    "bytes of an array": on_file(".npy"),
    "bytes of arrays": on_file(".npz"),
    "bytes of any file": on_file(""),
}
