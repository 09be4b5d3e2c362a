"""GraphBuilder and ModelContext, in the frontend for tests: unknown operators, limits, needed nodes, subgraphs."""

import json

import numpy as np
import pytest

from hetero import ops
from hetero.frontend.extension import ConversionExtension
from hetero.frontend.reading_extensions import ProgressReporterExtension
from hetero.system.errors import FrontendError
from tests.frontend.toy import ToyFrontEnd


def node(op_type, inputs, outputs, name=None, bodies=()):
    return {"type": op_type, "inputs": inputs, "outputs": outputs, "name": name or outputs[0], "bodies": list(bodies)}


def graph(nodes, inputs=("x",), outputs=("y",), **more):
    return {"inputs": {name: [2] for name in inputs}, "outputs": list(outputs), "nodes": nodes, **more}


def convert(main, *extensions, **graphs):
    frontend = ToyFrontEnd("paddle")
    for extension in extensions:
        frontend.add_extension(extension)
    return frontend.convert(json.dumps({"format": "paddle", **main, "graphs": graphs}).encode())


def refused(message, main, *extensions, **graphs):
    with pytest.raises(FrontendError, match=message):
        convert(main, *extensions, **graphs)


def test_unknown_operators_of_all_graphs_that_are_used():
    main = graph([node("mine", ["x"], ["a"]), node("mine", ["a"], ["b"]), node("call", ["b"], ["y"], bodies=["inner"])])
    refused(
        r"^there is no translation of mine \(2 nodes, the first is 'a'\), yours \('y'\): add one with a "
        r"ConversionExtension \(Core\.add_extension, or --extension of the command line\)$",
        main, inner=graph([node("yours", ["x"], ["y"])]), unused=graph([node("theirs", ["x"], ["y"])]),
    )  # fmt: skip


def test_only_needed_nodes_are_translated():
    reports = []
    progress = ProgressReporterExtension(lambda progress, total, done: reports.append((total, done)))
    model = convert(graph([node("unknown", ["x"], ["z"]), node("relu", ["x"], ["y"])]), progress)
    assert [type(result.input_value(0).node) for result in model.results] == [ops.Relu] and reports == [(1, 1)]


def test_a_graph_is_inlined_under_the_name_of_its_call():
    inner = graph([node("relu", ["x"], ["h"]), node("relu", ["h"], ["y"])])
    main = graph([node("call", ["x"], ["h"], "first", ["f"]), node("call", ["h"], ["y"], "second", ["f"])])
    names = [one.friendly_name for one in convert(main, f=inner).get_ordered_ops() if isinstance(one, ops.Relu)]
    assert names == ["first/h", "first", "second/h", "second"]


def test_a_branch_reads_values_of_the_graph_around_it():
    negative = ConversionExtension("negative", lambda node: ops.Negative(node.get_input(0)))
    condition = ConversionExtension("is_positive", lambda node: ops.Greater(ops.ReduceSum(node.get_input(0), 0), 0.0))
    main = graph([node("is_positive", ["x"], ["c"]), node("branch", ["c"], ["y"], "chosen", ["then", "else"])])
    then, otherwise = (graph([node(kind, ["x"], ["y"])], inputs=()) for kind in ("relu", "negative"))
    model = convert(main, negative, condition, **{"then": then, "else": otherwise})
    (operation,) = (one for one in model.get_ordered_ops() if isinstance(one, ops.If))
    assert operation.friendly_name == "chosen"
    assert [value.node for value in operation.input_values()[1:]] == model.parameters
    bodies = [operation.get_function(index) for index in range(2)]
    assert [body.parameters[0].friendly_name for body in bodies] == ["x", "x"]
    assert [body.results[0].output(0).names for body in bodies] == [{"y"}, {"y"}]


def test_limits():
    twice = [node("call", ["x"], ["h"], bodies=["f1"]), node("call", ["h"], ["y"], bodies=["f1"])]
    itself = graph([node("call", ["x"], ["y"], bodies=["f"])])
    refused("call node 'y': call node 'y/y': the function 'f' calls itself", itself, f=itself)
    chain = {f"f{index}": graph([node("call", ["x"], ["y"], bodies=[f"f{index + 1}"])]) for index in range(41)}
    chain["f41"] = graph([node("relu", ["x"], ["y"])])
    refused("functions and subgraphs are nested more than 40 deep", graph(twice), **chain)
    doubled = {f"f{index}": graph([{**one, "bodies": [f"f{index + 1}"]} for one in twice]) for index in range(1, 30)}
    refused("its graphs call each other so often that they expand to over 4050 operators", graph(twice),
            **doubled, f30=graph([node("relu", ["x"], ["y"])]))  # fmt: skip


def test_values_and_graphs_that_are_not_there():
    refused("relu node 'y': it reads 'z', which no operator before it computes", graph([node("relu", ["z"], ["y"])]))
    refused("^the output of the graph reads 'z', which no operator before it computes", graph([], outputs=["z"]))
    refused("call node 'y': there is no function 'f' in the model", graph([node("call", ["x"], ["y"], bodies=["f"])]))


def test_any_error_of_a_translator_is_one_of_the_node():
    extension = ConversionExtension("mine", lambda node: np.zeros(2)[7])
    refused(
        "mine node 'y': ConversionExtension of mine .*index 7 is out of bounds",
        graph([node("mine", ["x"], ["y"])]),
        extension,
    )
