"""Operators that run other graphs, against LiteRT where it knows them, else what their graphs say."""

import numpy as np
import pytest

import hetero
from hetero.errors import FrontendError
from tests.devices import GPUS
from tests.frontend.tflite.agreement import assert_as_litert, assert_gives
from tests.frontend.tflite.models import Graph, Op, build, constant, given, made

DEVICES = ["TEMPLATE", *(f"HETERO:{device},TEMPLATE" for device in GPUS)]
YES, NO = np.array(True), np.array(False)


def body_of(kind, *inputs, **options):
    return Graph([Op(kind, inputs, **options)], name=kind.lower())


def choice(condition, then, otherwise, *inputs, shape=(2, 3)):
    """A model of IF."""
    op = Op(
        "IF", [condition, *inputs], [made(np.float32, shape)], then_subgraph_index=then, else_subgraph_index=otherwise
    )
    return build(Graph([op]))


def sum_or_product(condition):
    branches = [body_of(kind, given((2, 3)), given((2, 3))) for kind in ("ADD", "MUL")]
    return choice(condition, *branches, given((2, 3)), given((2, 3)))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [(), (1,)])
def test_if(shape, device):
    model = sum_or_product(given(YES.reshape(shape), name="condition"))
    assert_as_litert(model, device, calls=[model.inputs | {"condition": NO.reshape(shape)}])


@pytest.mark.parametrize("taken", [YES, NO])
def test_if_of_a_constant_is_its_branch(taken):
    model = sum_or_product(constant(taken))
    assert_as_litert(model)
    kinds = {node.get_type_name() for node in hetero.Core().read_model(model.content).get_ordered_ops()}
    assert kinds & {"If", "Add", "Multiply"} == {"Add" if taken else "Multiply"}


def test_branches_of_other_shapes():
    value = given((2,))
    longer = body_of("CONCATENATION", value, value, axis=0)
    model = choice(given(YES, name="condition"), longer, body_of("MUL", x := given((2,)), x), given((2,)), shape=(4,))
    assert_as_litert(model, calls=[model.inputs | {"condition": NO}])


def test_a_constant_that_a_branch_needs_to_know():
    bodies = [body_of("RESHAPE", given((2, 3)), given((2,), np.int32)) for _ in range(2)]
    model = choice(given(YES), *bodies, given((2, 3)), constant([3, 2]), shape=(3, 2))
    assert_as_litert(model)
    assert hetero.Core().read_model(model.content).output(0).shape == (3, 2)


CALLS = {"CALL": "subgraph", "STABLEHLO_COMPOSITE": "decomposition_subgraph_index"}


@pytest.mark.parametrize("kind", CALLS)
def test_calls(kind):
    a, b = given((2, 3)), given((2, 3))
    called = body_of("SUB", given((2, 3)), given((2, 3)))
    model = build(Graph([Op(kind, [a, b], [made(np.float32, (2, 3))], **{CALLS[kind]: called})]))
    assert_gives(model, [a.data - b.data], "TEMPLATE")


def test_names_within_a_call_begin_with_its_own():
    called = Graph([Op("SUB", [x := given((2,)), x], [y := made(np.float32, (2,))]), Op("ADD", [y, y])], name="called")
    outer = Op("CALL", [given((2,))], [made(np.float32, (2,), name="result")], subgraph=called)
    names = {
        node.get_type_name(): node.friendly_name
        for node in hetero.Core().read_model(build(Graph([outer])).content).get_ordered_ops()
    }
    assert names["Add"] == "result" and names["Subtract"].startswith("result/")


def test_a_graph_that_runs_itself():
    body = Graph([Op("CALL", [given((2,))], [made(np.float32, (2,))])], name="round")
    body.ops[0].options["subgraph"] = body
    model = build(Graph([Op("CALL", [given((2,))], [made(np.float32, (2,))], subgraph=body)]))
    with pytest.raises(FrontendError, match="'round' runs itself"):
        hetero.Core().read_model(model.content)


def test_branches_that_do_not_give_what_the_operator_does():
    two = Graph([Op("ADD", [x := given((2, 3)), x]), Op("MUL", [x, x])], name="two")
    op = Op(
        "IF", [given(YES), given((2, 3))], [made(np.float32, (2, 3))], then_subgraph_index=two, else_subgraph_index=two
    )
    with pytest.raises(FrontendError, match="its graph 'two' has 2 outputs, the operator 1"):
        hetero.Core().read_model(build(Graph([op])).content)
