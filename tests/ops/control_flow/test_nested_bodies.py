"""Nested bodies are read, copied and run up to the limit and rejected beyond it; shape inference takes linear time."""

from io import BytesIO
from xml.etree import ElementTree

import numpy as np
import pytest

import hetero
from hetero import Model, Parameter, Type, ops
from hetero.frontend.ir import IrFrontEnd
from hetero.frontend.ir.weights import WeightsWriter
from hetero.frontend.ir.writer import model_element
from hetero.graph import Constant
from hetero.ops.control_flow.bodies import MAX_NESTING
from hetero.reference import Program, UncancelledRun
from hetero.system.errors import FrontendError, GraphError


def nested(depth: int, grows: bool = False) -> Model:
    """Return x + 1 in nested loops of one iteration; with ``grows`` each also has a value that gets longer."""
    x = Parameter(Type.f32, [2])
    model = Model([ops.Add(x, np.float32([1, 1]))], [x])
    for _ in range(depth):
        x, grown = Parameter(Type.f32, [2]), Parameter(Type.f32, [1])
        results = [np.array(True), model.results[0].input_value(0), ops.Concat([grown, np.float32([1])], 0)]
        results[0] = Constant(results[0])
        body = Model(results[: 3 if grows else 2], [*model.parameters, *([grown] if grows else [])])
        node = ops.Loop(np.int64(5 if grows else 1), np.array(True))
        node.set_function(body)
        node.set_special_body_ports([-1, 0])
        node.set_merged_input(body.parameters[0], x.output(0), body.results[1].output(0))
        if grows:
            node.set_merged_input(grown, Constant(np.float32([1])), body.results[2].output(0))
        model = Model([node.get_iter_value(body.results[1].output(0), -1)], [x])
    return model


def test_as_many_bodies_as_may_be_are_copied_written_read_and_run():
    assert MAX_NESTING == 100
    model, weights = nested(MAX_NESTING), BytesIO()
    xml = ElementTree.tostring(model_element(model, WeightsWriter(weights)))
    for copy in (model.clone(), IrFrontEnd().convert(xml, weights.getvalue())):
        (found,) = Program(copy).run([np.float32([1, 2])], UncancelledRun())
        np.testing.assert_array_equal(found, [2, 3])


def test_more_bodies_are_refused():
    with pytest.raises(GraphError, match=r"^Loop 'Loop_\d+': bodies are nested more than 100 deep$"):
        nested(MAX_NESTING + 1)


def test_a_file_of_more_bodies_is_refused():
    xml = "<net name='n' version='11'>" + "<layers><layer id='0' type='Loop' version='opset5'><body>" * 150
    xml += "</body></layer></layers>" * 150 + "</net>"
    with pytest.raises(FrontendError, match=r"^the IR model: bodies are nested more than 100 deep$"):
        IrFrontEnd().convert(xml.encode())


def test_inference_of_values_that_grow_at_every_level_is_not_exponential(monkeypatch):
    """Each level infers its body again when a value grows, which could mean 2**20 times for the innermost one."""
    count = 0

    def count_inference(node, infer=ops.Add.validate_and_infer_types):
        nonlocal count
        count += 1
        assert count < 10_000
        infer(node)

    monkeypatch.setattr(ops.Add, "validate_and_infer_types", count_inference)
    model = nested(20, grows=True)
    model.validate_nodes_and_infer_types()
    model.clone()
    assert model.outputs[0].shape == (2,)
    assert hetero.Core().compile_model(model, "TEMPLATE").outputs[0].shape == (2,)
