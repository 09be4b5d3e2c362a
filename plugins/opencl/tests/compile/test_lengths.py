"""Programs that serve many shapes: right for all of them, and few."""

import re
import threading
from pathlib import Path

import numpy as np
import pytest

import hetero
from hetero import Model, Parameter, Type, ops
from hetero.conformance.operations import OPERATIONS
from hetero.conformance.samples import assert_close, supports
from hetero.core.lengths.guards import bucket
from hetero.system.errors import HeteroError, TensorError
from tests import zoo
from tests.benchmarks.llama_models import Llama

CORE = hetero.Core()
# Two buckets, with other remainders and parities in each.
ROWS = (5, 9, 14, 7, 20, 33, 50, 61, 6, 17)
PAGE = Path(__file__).parents[4] / "docs/development/kernels.md"
# Operations that have a program for each length, as the page about kernels lists them.
OF_ONE_LENGTH = set(re.findall(r"^\| `(\w+)` \| each length", PAGE.read_text(encoding="utf-8"), re.MULTILINE))


def programs_of(request):
    """Return the number of programs that the model of a request has."""
    cache = request.bound_model._programs
    return len(cache._programs)


@pytest.mark.parametrize("operation", [each for each in OPERATIONS if each.batched], ids=lambda o: o.name)
def test_operations(device, plugin_request, operation):
    kind = operation.kinds[0]
    model = operation.model(kind, dynamic=True)
    if not supports(CORE, model, device):
        pytest.skip("the device refuses it, which the conformance kit checks")
    request = CORE.compile_model(model, device).create_infer_request()
    made_ahead = programs_of(plugin_request(request))
    sources: dict[tuple[int, int], set[tuple[str, ...]]] = {}
    for rows in ROWS:
        arrays = operation.arrays(kind, rows)
        for found, wanted in zip(request.infer(arrays).to_tuple(), operation.expected(arrays), strict=True):
            assert_close(found, wanted)
        for place, bound in enumerate(plugin_request(request).bound_model.bound_programs):
            sources.setdefault((bucket(rows), place), set()).add(tuple(each.source for each in bound.program.commands))
    assert [len(each) for each in sources.values()] == [1] * len(sources)  # no kernel depends on more than the bucket
    count = programs_of(plugin_request(request)) - made_ahead
    assert count >= len(ROWS) if operation.name in OF_ONE_LENGTH else count <= 4


def test_a_network_of_any_width(device, plugin_request):
    model = CORE.read_model(zoo.path("ocr_recognition"))
    request = CORE.compile_model(model, device).create_infer_request()
    reference = CORE.compile_model(model, "TEMPLATE").create_infer_request()
    for width in (101, 64, 255, 130, 77):
        image = np.random.default_rng(width).standard_normal((1, 3, 48, width), np.float32)
        np.testing.assert_allclose(request.infer(image)[0], reference.infer(image)[0], atol=2e-5)
    assert programs_of(plugin_request(request)) <= 2  # that of the compilation is for wider ones


def test_lengths_as_contents(device):
    """Numbers that are computed from shapes are written by kernels where other kernels read them."""
    x = Parameter(Type.f32, [-1, -1])
    width = ops.Gather(ops.ShapeOf(x), np.int64(1), np.int64(0))
    places = ops.Convert(ops.Range(np.int64(0), width, np.int64(1), "i64"), "f32")
    scaled = ops.Divide(ops.Add(x, places), ops.Convert(width, "f32"))
    compiled = CORE.compile_model(Model([scaled], [x]), device)
    for columns in (5, 9, 20, 33, 100):
        array = np.random.default_rng(columns).random((3, columns), np.float32)
        wanted = (array + np.arange(columns, dtype=np.float32)) / np.float32(columns)
        np.testing.assert_allclose(compiled(array)[0], wanted, rtol=1e-6)


def test_inputs_of_one_length():
    """Dimensions of one name are one symbol, unless a request gives them other lengths."""
    x, y = (Parameter(Type.f32, [-1, 4]) for _ in range(2))
    compiled = CORE.compile_model(Model([ops.Add(x, y)], [x, y]), "GPU")
    for a, b in ((5, 5), (7, 7), (9, 1), (1, 9)):
        first, second = np.ones((a, 4), np.float32), np.ones((b, 4), np.float32)
        np.testing.assert_array_equal(compiled([first, second])[0], first + second)


def test_a_decoder_with_beams(device, plugin_request):
    """Caches grow word by word and are reordered; each inference and each state is that of TEMPLATE."""
    model = Llama(words=300, width=64, layers=2, heads=4, hidden=96).model()
    request, reference = (CORE.compile_model(model, name).create_infer_request() for name in (device, "TEMPLATE"))
    draw = np.random.default_rng(0)
    for batch, prompt in ((1, 5), (4, 7), (1, 40), (2, 70)):
        request.reset_state()
        reference.reset_state()
        ids, place = draw.integers(0, 300, (batch, prompt)), 0
        for step in range(12):
            places = np.tile(np.arange(place, place + ids.shape[1]), (batch, 1))
            beams = draw.integers(0, batch, batch) if step else np.arange(batch)
            feeds = {"input_ids": ids, "position_ids": places, "beam_idx": beams.astype(np.int32)}
            np.testing.assert_allclose(request.infer(feeds)[0], reference.infer(feeds)[0], atol=5e-5)
            place += ids.shape[1]
            ids = draw.integers(0, 300, (batch, 3 if step % 5 == 4 else 1))
        wanted = {state.name: state.state.data for state in reference.query_state()}
        for state in request.query_state():
            np.testing.assert_allclose(state.state.data, wanted[state.name], atol=5e-5)
    # One for each combination of batch (1, 2 to 3, 4), words (1, 3) and buckets of the cache.
    assert programs_of(plugin_request(request)) <= 16


def test_requests_of_other_lengths_in_threads():
    x = Parameter(Type.f32, [-1, -1])
    weights = np.random.default_rng(0).standard_normal((16, 8)).astype(np.float32)
    padded = ops.Reshape(ops.Concat([x, x], 0), np.array([-1, 16]), False)
    compiled = CORE.compile_model(Model([ops.Softmax(ops.MatMul(padded, weights, False, False), 0)], [x]), "GPU")
    wrong = []

    def work(seed: int) -> None:
        request, draw = compiled.create_infer_request(), np.random.default_rng(seed)
        for _ in range(20):
            array = draw.random((8 * int(draw.integers(1, 9)), int(draw.integers(1, 90))), np.float32)
            products = np.concatenate([array, array]).reshape(-1, 16) @ weights
            powers = np.exp(products - products.max(0))
            if not np.allclose(request.infer(array)[0], powers / powers.sum(0), rtol=1e-4, atol=1e-6):
                wrong.append(array.shape)

    threads = [threading.Thread(target=work, args=[seed]) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_report_says_which_shapes_have_a_program(device, plugin_request):
    x = Parameter(Type.f32, [-1, 4], name="x")
    compiled = CORE.compile_model(Model([ops.Softmax(x, 1, name="soft")], [x]), f"HETERO:{device}")
    for rows in (1, 5, 100, 300):
        compiled(np.ones((rows, 4), np.float32))
    (subgraph,) = compiled.get_property("PLACEMENT_REPORT").subgraphs
    served = [line.removeprefix("a program for s0 ") for line in subgraph.programs]
    assert served == ["256 to 4095", "16 to 255", "1 to 15"]  # those used last come first
    lines = str(compiled.get_property("PLACEMENT_REPORT")).splitlines()
    assert lines[2:6] == [*(f"  {line}" for line in subgraph.programs), "  Softmax 'soft'"]


@pytest.mark.parametrize(
    "kind, reason", [("NonZero", "the shape of NonZero 'it' depends on data"), ("Loop", "Loop 'it' runs on the host")]
)
def test_the_report_says_why_each_shape_has_a_program(device, kind, reason):
    x = Parameter(Type.f32, [-1], name="x")
    if kind == "NonZero":
        result = ops.Exp(ops.Convert(ops.NonZero(x, "i64", name="it"), "f32"))
    else:
        inner = Parameter(Type.f32, [-1])
        body = Model(
            [ops.Less(ops.ReduceMax(inner, np.int64([0])), np.float32(9)), ops.Add(inner, np.float32(1))], [inner]
        )
        loop = ops.Loop(np.int64(-1), np.array(True), name="it")
        loop.set_function(body)
        loop.set_special_body_ports([-1, 0])
        loop.set_merged_input(inner, x, body.results[1].output(0))
        result = loop.get_iter_value(body.results[1].output(0), -1)
    compiled = CORE.compile_model(Model([result], [x]), device)
    assert compiled.get_property("MODEL_PROGRAMS") == []
    for count in (3, 4):
        compiled(np.ones(count, np.float32))
    assert compiled.get_property("MODEL_PROGRAMS") == [f"2 programs for one shape each: {reason}"]


def test_a_static_model_reports_no_programs():
    x = Parameter(Type.f32, [2])
    assert CORE.compile_model(Model([ops.Exp(x)], [x]), "GPU").get_property("MODEL_PROGRAMS") == []


def test_lengths_out_of_range():
    x = Parameter(Type.f32, [(2, 10), 4], name="x")
    compiled = CORE.compile_model(Model([ops.Exp(x)], [x]), "GPU")
    for rows in (2, 7, 10):
        assert compiled(np.zeros((rows, 4), np.float32))[0].shape == (rows, 4)
    with pytest.raises(TensorError, match=r"'x' has length 11 in dimension 0, which the model limits to 2..10"):
        compiled(np.zeros((11, 4), np.float32))


def test_shapes_that_do_not_fit_leave_the_programs_as_they_are(plugin_request):
    x, y = (Parameter(Type.f32, [-1, 4]) for _ in range(2))
    request = CORE.compile_model(Model([ops.Add(x, y)], [x, y]), "GPU").create_infer_request()
    rows = [np.ones((count, 4), np.float32) for count in range(40)]
    request.infer([rows[5], rows[5]])
    for _ in range(5):
        with pytest.raises(HeteroError, match="do not broadcast"):
            request.infer([rows[30], rows[31]])
    for count in (6, 9, 14, 20, 33):
        np.testing.assert_array_equal(request.infer([rows[count], rows[count]])[0], 2 * rows[count])
    assert programs_of(plugin_request(request)) <= 3
