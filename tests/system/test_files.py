"""Irregular files are refused before they are opened, because opening a pipe blocks until it has a writer."""

import os

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from hetero import Model, Parameter, Type, ops, serialize
from hetero.system.files import atomic_write
from tests.interpreter import run_python

READ = """
import sys
from pathlib import Path
from hetero import Core, HeteroError
from hetero.run.yaml_runs.config import load_config
core, (pipe, onnx, xml, exported) = Core(), sys.argv[1:]
for read in (
    lambda: core.read_model(pipe),
    lambda: core.read_model(onnx),
    lambda: core.read_model(xml),
    lambda: core.read_model(exported, pipe),
    lambda: core.import_model(pipe, "TEMPLATE"),
    lambda: core.compile_model(pipe, "TEMPLATE", {"CACHE_DIR": pipe}),
    lambda: core.add_extension(pipe + ".py"),
    lambda: load_config(Path(pipe)),
):
    try:
        read()
        print("no error")
    except HeteroError as error:
        print(error)
"""


def external_model(folder) -> onnx.ModelProto:
    """Return a model of x + w, with w in the external file ``weights``, which is a pipe."""
    weights = helper.make_tensor("w", TensorProto.FLOAT, [4], bytes(16), raw=True)
    weights.ClearField("raw_data")
    weights.data_location = TensorProto.EXTERNAL
    weights.external_data.append(onnx.StringStringEntryProto(key="location", value="weights"))
    os.mkfifo(folder / "weights")
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy"]
    node = helper.make_node("Add", ["x", "w"], ["y"])
    return helper.make_model(helper.make_graph([node], "graph", ports[:1], ports[1:], [weights]))


@pytest.mark.slow
def test_pipes_are_refused(tmp_path):
    pipe = tmp_path / "pipe"
    for name in ("pipe", "pipe.py", "net.bin"):
        os.mkfifo(tmp_path / name)
    onnx.save(external_model(tmp_path), tmp_path / "external.onnx")
    x = Parameter(Type.f32, [2], name="x")
    serialize(Model(ops.Add(x, np.float32([1, 2])), [x]), tmp_path / "whole.xml")
    (tmp_path / "net.xml").write_bytes((tmp_path / "whole.xml").read_bytes())
    files = [str(tmp_path / name) for name in ("pipe", "external.onnx", "net.xml", "whole.xml")]
    assert run_python(READ, *files)[0].splitlines() == [
        f"the model file {pipe} is not a regular file",
        f"{tmp_path}/external.onnx: Add node 'y': tensor 'w' cannot be read: its data is in the file weights: "
        "not a regular file",
        f"{tmp_path}/net.xml: the model file {tmp_path}/net.bin cannot be read: not a regular file",
        f"{tmp_path}/whole.xml: the model file {pipe} cannot be read: not a regular file",
        f"the exported model {pipe} cannot be read: not a regular file",
        f"the model file {pipe} is not a regular file",
        f"there is no file of extensions {pipe}.py",
        f"{pipe} is a pipe or device, not a file",
    ]  # fmt: skip


def test_a_file_with_the_longest_possible_name_can_be_written(tmp_path):
    path = tmp_path / ("x" * 255)
    with atomic_write(path) as (file,):
        file.write(b"content")
    assert path.read_bytes() == b"content" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("location", ["a\0b", "x" * 300, "x/" * 3000])
def test_impossible_names_of_external_data_are_refused(location, tmp_path):
    from hetero import Core
    from hetero.system.errors import FrontendError

    model = external_model(tmp_path)
    model.graph.initializer[0].external_data[0].value = location
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(FrontendError, match="tensor 'w' cannot be read: its data is in the file"):
        Core().read_model(tmp_path / "model.onnx")
