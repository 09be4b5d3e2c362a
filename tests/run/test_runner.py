"""Reading the model of a run."""

import itertools

import onnx
from onnx import TensorProto, helper

from hetero.run.yaml_runs.runner import read_model
from hetero.runtime import Core


def test_progress_is_reported_once_per_percent(tmp_path):
    """The progress bar is drawn at most a hundred times, for any number of nodes."""
    names = [f"v{n}" for n in range(1001)]
    nodes = [helper.make_node("Neg", [a], [b]) for a, b in itertools.pairwise(names)]
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in (names[0], names[-1])]
    graph = helper.make_graph(nodes, "long", value[:1], value[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "long.onnx")
    steps = []
    model = read_model(Core(), tmp_path / "long.onnx", [], lambda *report: steps.append(report))
    assert len(model.get_ops()) == 1002
    expected = [("Reading the model", done, 1000) for done in range(10, 1001, 10)]
    assert steps == [("Reading the model", 0, 1), *expected]
