"""Variables on OpenVINO's processor: decoders of text models, variables as ports, loops that do not run."""

import numpy as np
import pytest

import hetero
from hetero import opset6, opset13
from hetero.graph import Parameter

CPU, F = "OPENVINO.CPU", np.float32
HEADS, WIDTH = 2, 4


def decoder(batch):
    """An attention with its keys and values in variables, empty at first, whose rows a beam search exchanges."""
    rng = np.random.default_rng(0)
    x = opset13.parameter([batch, -1, HEADS * WIDTH], F, name="x")
    beam = opset13.parameter([batch], np.int32, name="beam")
    first = opset13.gather(opset13.shape_of(beam), np.int64([0]), np.int64(0))
    shape = opset13.concat([first, *(opset13.constant(np.int64([length])) for length in (HEADS, 0, WIDTH))], 0)

    def heads():
        weights = opset13.constant(rng.standard_normal((HEADS * WIDTH, HEADS * WIDTH)).astype(F) / 4)
        rows = opset13.reshape(opset13.matmul(x, weights, False, False), np.int64([0, 0, HEADS, WIDTH]), True)
        return opset13.transpose(rows, np.int64([0, 2, 1, 3]))

    query, values, sinks = heads(), [], []
    for name in ("key", "value"):
        initial = opset13.broadcast(opset13.constant(F(0)), shape)
        before = opset13.gather(opset6.read_value(initial, name, "f32", [-1, HEADS, -1, WIDTH]), beam, np.int64(0))
        values.append(opset13.concat([before, heads()], 2))
        sinks.append(opset6.assign(values[-1], name))
    attention = opset13.scaled_dot_product_attention(query, *values)
    attention = opset13.transpose(attention, np.int64([0, 2, 1, 3]), name="last")
    return hetero.Model([opset13.reshape(attention, np.int64([0, 0, HEADS * WIDTH]), True)], sinks, [x, beam], "text")


@pytest.mark.parametrize("batch", [-1, 2], ids=["dynamic", "static"])
@pytest.mark.parametrize("device", [CPU, f"HETERO:{CPU},TEMPLATE"])
def test_a_decoder_with_empty_initial_states_is_as_on_TEMPLATE(device, batch):
    rng, core = np.random.default_rng(1), hetero.Core()
    config = {"INFERENCE_PRECISION_HINT": "f32"}
    pins = {"AFFINITIES": {"last": "TEMPLATE"}} if "HETERO" in device else {}
    requests = [
        core.compile_model(decoder(batch), name, options).create_infer_request()
        for name, options in (("TEMPLATE", {}), (device, config | pins))
    ]
    for length, rows in ((3, [0, 1]), (1, [1, 0]), (1, [1, 1]), ("reset", []), (2, [0, 1]), (1, [0, 0])):
        if length == "reset":
            for request in requests:
                request.reset_state()
            continue
        given = [rng.standard_normal((2, length, HEADS * WIDTH)).astype(F), np.int32(rows)]
        wanted, found = (request.infer(given)[0] for request in requests)
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    states = [{state.name: state for state in request.query_state()} for request in requests]
    for name in ("key", "value"):
        np.testing.assert_allclose(states[1][name].state.data, states[0][name].state.data, rtol=1e-5, atol=1e-6)
        shorter = hetero.Tensor(np.ascontiguousarray(states[0][name].state.data[:, :, :2]))
        states[0][name].state = states[1][name].state = shorter
    wanted, found = (request.infer(given)[0] for request in requests)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def firsts(model, inputs):
    request = hetero.Core().compile_model(model, CPU).create_infer_request()
    return [float(np.ravel(request.infer([np.full([1, 2], number, F)])[0])[0]) for number in inputs]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_initial_values_that_are_computed(count):
    """OpenVINO moves what computes them into another graph, and fails at chains."""
    x = opset13.parameter([1, 2], F)
    initial = x
    for _ in range(count):
        initial = opset13.negative(opset13.relu(initial))
    read = opset6.read_value(initial, "last")
    following = opset13.add(x, opset13.constant(F([[1, 1]])))
    model = hetero.Model([opset13.abs(read)], [opset6.assign(following, "last")], [x])
    assert firsts(model, [3, 4, 5]) == [3 if count == 1 else 0, 4, 5]


def test_an_initial_value_that_depends_on_what_is_assigned():
    x = opset13.parameter([1, 2], F)
    total = opset13.add(x, opset13.constant(F([[10, 10]])))
    model = hetero.Model([opset13.negative(opset6.read_value(total, "last"))], [opset6.assign(total, "last")], [x])
    assert firsts(model, [1, 2, 3]) == [-11, -11, -12]


def test_several_reads_with_initial_values_of_their_own():
    x = opset13.parameter([1, 2], F)
    reads = [opset6.read_value(opset13.constant(np.full([1, 2], value, F)), "last") for value in (2, 30)]
    model = hetero.Model([opset13.add(*reads)], [opset6.assign(x, "last")], [x])
    assert firsts(model, [4, 5, 6]) == [32, 8, 10]


@pytest.mark.parametrize("reads", [True, False])
def test_a_loop_that_does_not_run_returns_the_value_before_it(reads):
    """Also if its body does not read that value. Beside it, the inference before has run the loop."""
    x, k = opset13.parameter([1, 2], F), opset13.parameter([], np.int64)
    node, inner = opset13.loop(k, opset13.constant(True)), [Parameter(hetero.Type.f32, [1, 2]) for _ in range(2)]
    result = opset13.add(*inner) if reads else opset13.abs(inner[1])
    body = hetero.Model([opset13.result(opset13.constant(True)), opset13.result(result)], inner, "body")
    node.set_function(body)
    node.set_special_body_ports([-1, 0])
    node.set_merged_input(inner[0], opset13.abs(x).output(0), body.results[1].output(0))
    node.set_invariant_input(inner[1], opset13.negative(x).output(0))
    model = hetero.Model([node.get_iter_value(body.results[1].output(0), -1)], [x, k])
    request = hetero.Core().compile_model(model, CPU).create_infer_request()
    cases = [(-1, 0), (-2, 2), (-3, 0), (-4, 1)]
    found = [float(request.infer([np.full([1, 2], n, F), np.int64(k)])[0][0, 0]) for n, k in cases]
    assert found == ([1, 6, 3, 8] if reads else [1, 2, 3, 4])


def test_variables_that_are_ports_of_an_exported_model():
    """One is read only, one assigned only, and one assigned in a branch."""
    core = hetero.Core()
    x, flag = opset13.parameter([1, 2], F), opset13.parameter([], np.bool_)
    read = opset6.read_value(opset13.constant(F([[7, 7]])), "read")
    node, inner = opset13.if_op(flag), [Parameter(hetero.Type.f32, [1, 2]) for _ in range(2)]
    assign = opset6.assign(opset13.relu(inner[0]), "branch")
    node.set_then_body(hetero.Model([assign], [assign], inner[:1], "then"))
    node.set_else_body(hetero.Model([opset13.negative(inner[1])], inner[1:], "else"))
    node.set_input(x.output(0), *inner)
    y = node.set_output(node.get_function(0).results[0], node.get_function(1).results[0])
    model = hetero.Model([opset13.add(read, y)], [opset6.assign(opset13.abs(x), "written")], [x, flag], "three")
    compiled = core.compile_model(model, CPU)
    for each in (compiled, core.import_model(compiled.export_model(), CPU)):
        request = each.create_infer_request()
        states = {state.name: state for state in request.query_state()}
        assert states.keys() == {"read", "branch", "written"}
        assert request.infer([F([[1, 2]]), np.bool_(False)])[0].tolist() == [[6, 5]]
        contents = {name: state.state.data.tolist() for name, state in states.items()}
        assert contents == {"read": [[0, 0]], "branch": [[0, 0]], "written": [[1, 2]]}
        states["read"].state = hetero.Tensor(F([[10, 20]]))
        assert request.infer([F([[3, 4]]), np.bool_(True)])[0].tolist() == [[13, 24]]
        contents = {name: state.state.data.tolist() for name, state in states.items()}
        assert contents == {"read": [[10, 20]], "branch": [[3, 4]], "written": [[3, 4]]}


def test_an_exported_branch_that_reads_one_value_twice():
    """OpenVINO gives an imported one the value only once."""
    core, x, flag = hetero.Core(), opset13.parameter([1, 2], F), opset13.parameter([], np.bool_)
    node, inner = opset13.if_op(flag), [Parameter(hetero.Type.f32, [1, 2]) for _ in range(3)]
    node.set_then_body(hetero.Model([opset13.minimum(*inner[:2])], inner[:2], "then"))
    node.set_else_body(hetero.Model([opset13.negative(inner[2])], inner[2:], "else"))
    node.set_input(x.output(0), inner[0], inner[2])
    node.set_input(x.output(0), inner[1], None)
    y = node.set_output(node.get_function(0).results[0], node.get_function(1).results[0])
    compiled = core.compile_model(hetero.Model([y], [x, flag]), CPU)
    for each in (compiled, core.import_model(compiled.export_model(), CPU)):
        assert each([F([[3, 4]]), np.bool_(True)])[0].tolist() == [[3, 4]]
