"""Operators that call graphs, against LiteRT or, if it lacks them, numpy."""

import numpy as np
import pytest

import hetero
from hetero.system.errors import FrontendError
from tests.frontend.tflite.agreement import EACH_GPU, assert_as_litert, assert_gives
from tests.frontend.tflite.models import Graph, Op, build, constant, feed, out

YES, NO = np.array(True), np.array(False)


def body_of(kind, *inputs, **options):
    return Graph([Op(kind, inputs, **options)], name=kind.lower())


def choice(condition, then, otherwise, *inputs, shape=(2, 3)):
    """A model of IF."""
    op = Op(
        "IF", [condition, *inputs], [out(np.float32, shape)], then_subgraph_index=then, else_subgraph_index=otherwise
    )
    return build(Graph([op]))


def sum_or_product(condition):
    branches = [body_of(kind, feed((2, 3)), feed((2, 3))) for kind in ("ADD", "MUL")]
    return choice(condition, *branches, feed((2, 3)), feed((2, 3)))


@pytest.mark.parametrize("device", EACH_GPU)
@pytest.mark.parametrize("shape", [(), (1,)])
def test_if(shape, device):
    model = sum_or_product(feed(YES.reshape(shape), name="condition"))
    assert_as_litert(model, device, calls=[model.inputs | {"condition": NO.reshape(shape)}])


@pytest.mark.parametrize("taken", [YES, NO])
def test_if_of_a_constant_is_its_branch(taken):
    model = sum_or_product(constant(taken))
    assert_as_litert(model)
    kinds = {node.get_type_name() for node in hetero.Core().read_model(model.content).get_ordered_ops()}
    assert kinds & {"If", "Add", "Multiply"} == {"Add" if taken else "Multiply"}


def test_branches_of_other_shapes():
    value = feed((2,))
    longer = body_of("CONCATENATION", value, value, axis=0)
    model = choice(feed(YES, name="condition"), longer, body_of("MUL", x := feed((2,)), x), feed((2,)), shape=(4,))
    assert_as_litert(model, calls=[model.inputs | {"condition": NO}])


def test_a_constant_that_a_branch_needs_to_know():
    bodies = [body_of("RESHAPE", feed((2, 3)), feed((2,), np.int32)) for _ in range(2)]
    model = choice(feed(YES), *bodies, feed((2, 3)), constant([3, 2]), shape=(3, 2))
    assert_as_litert(model)
    assert hetero.Core().read_model(model.content).output(0).shape == (3, 2)


CALLS = {"CALL": "subgraph", "STABLEHLO_COMPOSITE": "decomposition_subgraph_index"}


@pytest.mark.parametrize("kind", CALLS)
def test_calls(kind):
    a, b = feed((2, 3)), feed((2, 3))
    called = body_of("SUB", feed((2, 3)), feed((2, 3)))
    model = build(Graph([Op(kind, [a, b], [out(np.float32, (2, 3))], **{CALLS[kind]: called})]))
    assert_gives(model, [a.data - b.data], "TEMPLATE")


def test_names_within_a_call_begin_with_its_own():
    called = Graph([Op("SUB", [x := feed((2,)), x], [y := out(np.float32, (2,))]), Op("ADD", [y, y])], name="called")
    outer = Op("CALL", [feed((2,))], [out(np.float32, (2,), name="result")], subgraph=called)
    names = {
        node.get_type_name(): node.friendly_name
        for node in hetero.Core().read_model(build(Graph([outer])).content).get_ordered_ops()
    }
    assert names["Add"] == "result" and names["Subtract"].startswith("result/")


def test_a_graph_that_runs_itself():
    body = Graph([Op("CALL", [feed((2,))], [out(np.float32, (2,))])], name="round")
    body.ops[0].options["subgraph"] = body
    model = build(Graph([Op("CALL", [feed((2,))], [out(np.float32, (2,))], subgraph=body)]))
    with pytest.raises(FrontendError, match="'round' calls itself"):
        hetero.Core().read_model(model.content)


TWO = Graph([Op("ADD", [x := feed((2,)), x]), Op("MUL", [x, x])], name="two")
SUM = Graph([Op("ADD", [feed((2,)), feed((2,))])], name="sum")
SAME = Graph([Op("NEG", [feed((2,))])], name="same")
BELOW = Graph([Op("LESS", [feed((2,)), constant(1.0)])], name="below")
WRONG = {
    "a branch gives too much": ("IF", SAME, TWO, "its graph 'two' has 2 outputs, but 1 are needed"),
    "a branch takes too much": ("IF", SAME, SUM, "its graph 'sum' has 2 inputs, but is given 1"),
    "a condition gives too much": ("WHILE", TWO, SAME, "its graph 'two' has 2 outputs, but 1 are needed"),
    "a body takes too much": ("WHILE", BELOW, SUM, "its graph 'sum' has 2 inputs, but is given 1"),
    "a body gives too much": ("WHILE", BELOW, TWO, "its graph 'two' has 2 outputs, but 1 are needed"),
    "a condition is no scalar": ("WHILE", SAME, SAME, "input 1 must be a scalar or have one element"),
    "no such graph": ("IF", SAME, 7, "there is no function '7' in the model"),
}


@pytest.mark.parametrize("case", WRONG)
def test_graphs_that_do_not_fit(case):
    kind, first, second, message = WRONG[case]
    names = {"IF": ("then", "else"), "WHILE": ("cond", "body")}[kind]
    graphs = {f"{name}_subgraph_index": graph for name, graph in zip(names, (first, second))}
    condition = [feed(YES)] if kind == "IF" else []
    model = build(Graph([Op(kind, [*condition, feed((2,))], [out(np.float32, (2,), name="y")], **graphs)]))
    with pytest.raises(FrontendError, match=f"{kind} node 'y': .*{message}"):
        hetero.Core().read_model(model.content)
