"""Device ONEDNN: programs for classes of lengths are right for all of them, and few."""

import threading

import numpy as np
import pytest
from hetero_onednn import compiled_model, shape_programs
from hetero_onednn.library.api import FORWARD_INFERENCE, DataType, Eltwise
from hetero_onednn.library.primitive import Attributes, EltwiseOp, describe, plain
from hetero_onednn.library.threads import OneThread

from hetero import Core, Model, Parameter, PartialShape, Type, ops
from hetero.conformance.operations import OPERATIONS
from hetero.conformance.samples import assert_close, supports
from hetero.system.errors import UnsupportedValueError
from tests import zoo
from tests.benchmarks.llama_models import Llama
from tests.benchmarks.text_models import sentence_embedder

CORE = Core()
DEVICES = "HETERO:ONEDNN,TEMPLATE"
# Two buckets, with other remainders and parities in each.
ROWS = (5, 9, 14, 7, 20, 33, 50, 61, 6, 17)
rng = np.random.default_rng(37)


@pytest.fixture
def lowered(monkeypatch):
    """The ShapePrograms that are made."""
    found = []
    original = compiled_model.lower_model

    def recorded(*arguments, **options):
        found.append(original(*arguments, **options))
        return found[-1]

    monkeypatch.setattr(compiled_model, "lower_model", recorded)
    return found


@pytest.mark.parametrize("operation", [each for each in OPERATIONS if each.batched], ids=lambda o: o.name)
def test_operations(operation, lowered):
    kind = operation.kinds[0]
    model = operation.model(kind, dynamic=True)
    if not supports(CORE, model, "ONEDNN"):
        pytest.skip("the device refuses it, which the conformance kit checks")
    request = CORE.compile_model(model, "ONEDNN").create_infer_request()
    for rows in ROWS:
        arrays = operation.arrays(kind, rows)
        for found, wanted in zip(request.infer(arrays).to_tuple(), operation.expected(arrays), strict=True):
            assert_close(found, wanted)
    # For two buckets and the lengths that the compilation expects, each for ordinary inputs and for others.
    assert len(lowered) <= 6


def most_primitives_of_a_node(programs):
    """Return the largest number of primitives that the programs of one class keep for a node."""
    primitives = {}
    for program in programs.programs:
        for step in program.steps:
            primitives.setdefault((step.node, step.role), set()).add(step.descriptor)
    return max(map(len, primitives.values()))


def test_a_network_of_any_width(lowered, monkeypatch):
    monkeypatch.setattr(shape_programs, "MAX_SHAPES", 16)
    model = CORE.read_model(zoo.path("ocr_recognition"))
    request = CORE.compile_model(model, DEVICES).create_infer_request()
    reference = CORE.compile_model(model, "TEMPLATE").create_infer_request()
    for width in (101, 64, 255, 130, 101, 77, *range(80, 120, 2)):
        image = np.random.default_rng(width).standard_normal((1, 3, 48, width), np.float32)
        np.testing.assert_allclose(request.infer(image)[0], reference.infer(image)[0], atol=2e-5)
    # That of the compilation is for wider ones. The network is in two parts at most.
    assert len(lowered) <= 4
    assert all(len(programs.programs) <= shape_programs.MAX_SHAPES for programs in lowered)
    assert max(map(most_primitives_of_a_node, lowered)) <= 16


def test_texts_of_any_length_in_any_order(lowered, tmp_path):
    sentence_embedder(tmp_path / "model.onnx", layers=2, width=48, heads=3, words=99)
    model = CORE.read_model(tmp_path / "model.onnx")
    request = CORE.compile_model(model, DEVICES).create_infer_request()
    reference = CORE.compile_model(model, "TEMPLATE").create_infer_request()
    parts = len(lowered)
    for batch, length in ((1, 20), (1, 37), (2, 20), (1, 20), (3, 63), (1, 16), (2, 20), (1, 50)):
        ids = rng.integers(0, 99, (batch, length))
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        np.testing.assert_allclose(request.infer(feeds)[0], reference.infer(feeds)[0], atol=2e-5)
    assert len(lowered) <= 3 * max(1, parts)  # texts alone, several of them, and those of the compilation


def test_threads_with_lengths_of_their_own():
    x = Parameter(Type.f32, [-1, -1, 64])
    weights = rng.standard_normal((64, 64)).astype(np.float32)
    scores = ops.MatMul(ops.MatMul(x, weights, False, False), x, False, True)
    model = Model([ops.MatMul(ops.Softmax(scores, -1), x, False, False)], [x])
    compiled = CORE.compile_model(model, "ONEDNN")
    template = CORE.compile_model(model, "TEMPLATE")
    errors = []

    def work(length):
        request, reference = compiled.create_infer_request(), template.create_infer_request()
        for step in range(6):
            array = np.random.default_rng(length + step).standard_normal((1, length + step, 64), np.float32) / 8
            error = np.abs(request.infer(array)[0] - reference.infer(array)[0]).max()
            errors.append(error)

    threads = [threading.Thread(target=work, args=[length]) for length in (5, 17, 29, 70)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 24
    assert max(errors) < 1e-4


def test_lengths_as_contents(lowered):
    """Numbers that are computed from shapes are constants of each program."""
    x = Parameter(Type.f32, [-1, -1])
    width = ops.Gather(ops.ShapeOf(x), np.int64(1), np.int64(0))
    places = ops.Convert(ops.Range(np.int64(0), width, np.int64(1), "i64"), "f32")
    scaled = ops.Relu(ops.Divide(ops.Add(x, places), ops.Convert(width, "f32")))
    compiled = CORE.compile_model(Model([scaled], [x]), "ONEDNN")
    before = len(lowered)
    for rows, columns in ((4, 7), (9, 5), (12, 15), (4, 7), (8, 9)):
        array = rng.standard_normal((rows, columns)).astype(np.float32)
        expected = np.maximum((array + np.arange(columns)) / columns, 0)
        np.testing.assert_allclose(compiled(array)[0], expected, rtol=1e-5, atol=1e-6)
    assert len(lowered) - before <= 2  # the typical lengths of rows and columns are equal, which these are not


def test_lengths_of_which_nan_follows():
    x = Parameter(Type.f32, [4, -1])
    width = ops.Convert(ops.Gather(ops.ShapeOf(x), np.int64(1), np.int64(0)), "f32")
    model = Model([ops.Maximum(x, ops.Log(ops.Subtract(width, np.float32(10))))], [x])
    compiled = CORE.compile_model(model, "ONEDNN")
    for columns in (12, 8, 15, 9, 13):
        array = rng.standard_normal((4, columns)).astype(np.float32)
        expected = np.maximum(array, np.log(columns - 10) if columns > 10 else np.nan)
        np.testing.assert_allclose(compiled(array)[0], expected, rtol=1e-5)


def test_the_runtime_model_has_the_shapes_of_the_last_inference():
    x = Parameter(Type.f32, [-1, 8])
    compiled = CORE.compile_model(Model([ops.Softmax(x, 1)], [x]), "ONEDNN")
    for rows in (40, 20, 40):
        compiled(np.ones((rows, 8), np.float32))
        assert [list(port.shape) for port in compiled.get_runtime_model().outputs] == [[rows, 8]]


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_nan_of_any_length(number):
    x = Parameter(Type.f32, [-1, 32])
    weights = rng.standard_normal((32, 32)).astype(np.float32)
    model = Model([ops.ReduceMax(ops.Relu(ops.MatMul(x, weights, False, False)), np.int64([1]))], [x])
    compiled, reference = (CORE.compile_model(model, device) for device in ("ONEDNN", "TEMPLATE"))
    for rows in (20, 5, 33, 20, 60):
        array = rng.standard_normal((rows, 32)).astype(np.float32)
        np.testing.assert_allclose(compiled(array)[0], reference(array)[0], rtol=1e-4, atol=1e-4)
        array[rows // 2, 3] = number
        np.testing.assert_allclose(compiled(array)[0], reference(array)[0], rtol=1e-4, atol=1e-4)


def test_quantized_products_of_any_length():
    limits = [np.float32(limit) for limit in (-1.27, 1.28)]
    x = Parameter(Type.f32, [-1, 64])
    weights = rng.integers(-127, 128, (16, 64)).astype(np.float32) / 127
    data = ops.FakeQuantize(x, *limits, *limits, 256)
    model = Model([ops.MatMul(data, weights, False, True)], [x])
    compiled, reference = (CORE.compile_model(model, device) for device in ("ONEDNN", "TEMPLATE"))
    for rows in (20, 5, 33, 20, 60):
        array = rng.integers(-120, 121, (rows, 64)).astype(np.float32) / 100  # levels, so that none is between two
        np.testing.assert_allclose(compiled(array)[0], reference(array)[0], rtol=1e-4, atol=1e-4)
        array[0, 0] = np.nan
        with pytest.raises(UnsupportedValueError, match="NaN or infinity"):
            compiled(array)


def test_a_decoder_of_growing_states(lowered):
    model = Llama(words=40, width=64, layers=2, heads=4, hidden=96).model()
    requests = [CORE.compile_model(model, device).create_infer_request() for device in (DEVICES, "TEMPLATE")]
    ids, place = rng.integers(0, 40, (1, 9)), 0
    counts = []
    for _ in range(50):
        feeds = {"input_ids": ids, "position_ids": np.arange(place, place + ids.shape[1])[None]}
        found, wanted = (request.infer({**feeds, "beam_idx": np.zeros(1, np.int32)})[0] for request in requests)
        np.testing.assert_allclose(found, wanted, atol=1e-4)
        place += ids.shape[1]
        ids = wanted[:, -1].argmax(-1)[None]
        counts.append(len(lowered))
    # Words from the 10th to the 15th, and from the 16th on: a bucket each.
    assert counts[9] == counts[-1]


def test_weights_are_shared_by_the_programs_of_all_lengths(monkeypatch):
    made = []

    class Recorded(compiled_model.Constants):
        def __init__(self, most_bytes):
            super().__init__(most_bytes)
            made.append(self)

    monkeypatch.setattr(compiled_model, "Constants", Recorded)
    x = Parameter(Type.f32, PartialShape([-1, 256]))
    weights = rng.standard_normal((256, 256)).astype(np.float32)
    compiled = CORE.compile_model(Model([ops.Relu(ops.MatMul(x, weights, False, False))], [x]), "ONEDNN")
    compiled(np.ones((16, 256), np.float32))
    (constants,) = made
    before = constants.byte_size
    for rows in range(17, 63):
        compiled(np.ones((rows, 256), np.float32))
    assert weights.nbytes <= constants.byte_size == before


def test_equal_descriptors_are_one():
    def linear(beta):
        layout = plain([4, 5], DataType.f32)
        return describe("eltwise_forward", FORWARD_INFERENCE, Eltwise.linear, layout, layout, 1.0, beta, Attributes())

    def product(beta):
        layout = plain([4, 5], DataType.f32)
        attributes = Attributes([(EltwiseOp(Eltwise.linear, 1.0, beta), None)])
        return describe("matmul", layout, plain([5, 6], DataType.f32), None, plain([4, 6], DataType.f32), attributes)

    for function in (linear, product):
        one = function(0.0)
        assert function(0.0) is one
        assert function(-0.0) is not one  # the sign of zeros differs
        with OneThread(True):
            assert function(0.0).primitive.handle != one.primitive.handle


def test_the_report_lists_programs():
    x = Parameter(Type.f32, "[rows,8]", name="x")
    compiled = CORE.compile_model(Model([ops.Relu(x)], [x]), "HETERO:ONEDNN,TEMPLATE")
    for rows in (5, 40):
        compiled(np.ones((rows, 8), np.float32))
    (part,) = compiled.get_property("PLACEMENT_REPORT").subgraphs
    assert part.programs == ("a program for rows 16 to 255", "a program for rows 1 to 15")
