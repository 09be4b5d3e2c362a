"""Programs: the kernels that are launched, fusion, and programs per input shape."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import numpy as np
import pytest
from hetero_opencl.device.device import OpenCLDevice
from hetero_opencl.execute import workspace
from hetero_opencl.plugin import OpenCLPlugin

import hetero
from hetero import Constant, Model, Parameter, PartialShape, Tensor, Type, ops
from hetero.compiler import MAX_PROGRAMS
from hetero.plugin import STAGES
from hetero.system.errors import HeteroError, UnsupportedOperationError

PLUGIN = OpenCLPlugin()
ROWS = np.arange(12, dtype=np.float32).reshape(3, 4) / 12


def parameter(*shape, kind=Type.f32):
    return Parameter(kind, PartialShape(shape))


def compiled_for(device, outputs, parameters, **options):
    core = hetero.Core()
    return core.compile_model(Model(list(outputs), parameters), device, options)


def program_for(compiled, *arrays):
    """Return the program of a compiled model for these inputs."""
    return compiled.programs_for(()).programs.segment_for(arrays)[0].program.program


def launches(outputs, parameters, *arrays):
    """Return the kernel name and the node type of each launch of a model."""
    compiled = PLUGIN.compile_model(Model(list(outputs), parameters), {})
    return [(launch.kernel, launch.node_type) for launch in program_for(compiled, *arrays).launches]


def silu_of_a_sum(x, y):
    total = ops.Add(ops.Multiply(x, np.float32(3)), y)
    return ops.Multiply(total, ops.Sigmoid(total))


def test_a_tree_of_element_wise_operations_is_one_launch(device):
    x, y = parameter(3, 4), parameter(4)
    model = [silu_of_a_sum(x, y)], [x, y]
    assert launches(*model, ROWS, ROWS[0]) == [("elementwise", "Multiply")]
    total = ROWS * 3 + ROWS[0]
    found = compiled_for(device, *model)([ROWS, ROWS[0]])[0]
    np.testing.assert_allclose(found, total / (1 + np.exp(-total)), rtol=1e-5)


def test_trees_of_equal_structure_share_a_program():
    def source(first, second):
        x, y = parameter(*first), parameter(*second)
        compiled = PLUGIN.compile_model(Model([silu_of_a_sum(x, y)], [x, y]), {})
        (launch,) = program_for(compiled, np.zeros(first), np.zeros(second)).launches
        return launch.source

    assert source((3, 4), (4,)) == source((7, 2, 9), (9,)) != source((3, 4), (3, 4))


def test_fused_values_with_other_readers_are_stored(device):
    x = parameter(3, 4)
    relu = ops.Relu(ops.Subtract(x, np.float32(0.5)))
    outputs = [ops.Exp(relu), relu, ops.Softmax(relu, 1)]
    wanted = np.maximum(ROWS - 0.5, 0)
    powers = np.exp(wanted)
    found = compiled_for(device, outputs, [x])(ROWS)
    for array, expected in zip(found.to_tuple(), (powers, wanted, powers / powers.sum(1, keepdims=True))):
        np.testing.assert_allclose(array, expected, rtol=1e-5, atol=1e-6)


def test_a_layout_conversion_is_shared_by_its_readers(device):
    x, y = parameter(3, 4), parameter(5, 4)
    products = [ops.MatMul(factor, y, False, True) for factor in (x, ops.Exp(x))]
    arrays = ROWS, np.arange(20, dtype=np.float32).reshape(5, 4) / 20
    kernels = [kernel.removeprefix("group_") for kernel, _ in launches(products, [x, y], *arrays)]
    assert sorted(kernels) == ["elementwise", "gemm", "gemm", "strided_copy"]
    found = compiled_for(device, products, [x, y])(list(arrays))
    for array, factor in zip(found.to_tuple(), (ROWS, np.exp(ROWS))):
        np.testing.assert_allclose(array, factor @ arrays[1].T, rtol=1e-5)


def test_the_bias_of_a_product_is_no_launch():
    x = parameter(1, 3, 8, 8)
    weights = np.ones((5, 3, 1, 1), np.float32)
    convolution = ops.Convolution(x, Constant(weights), [1, 1], [0, 0], [0, 0], [1, 1])
    biased = ops.Add(convolution, Constant(np.ones((1, 5, 1, 1), np.float32)))
    image = np.zeros((1, 3, 8, 8), np.float32)
    assert [kind for _, kind in launches([biased], [x], image)] == ["Convolution"]


def test_batch_normalization_is_folded_into_a_convolution(device):
    generator = np.random.default_rng(0)
    x = parameter(1, 3, 5, 6)
    weights = generator.standard_normal((4, 3, 1, 1)).astype(np.float32)
    gamma, beta, mean, variance = (generator.random(4).astype(np.float32) + 0.1 for _ in range(4))
    convolution = ops.Convolution(x, Constant(weights), [1, 1], [0, 0], [0, 0], [1, 1])
    normal = ops.BatchNormInference(convolution, gamma, beta, mean, variance, 1e-3)
    image = generator.standard_normal((1, 3, 5, 6)).astype(np.float32)
    assert [kind for _, kind in launches([normal], [x], image)] == ["Convolution"]
    plain = np.einsum("oi,nihw->nohw", weights[:, :, 0, 0], image)
    by_channel = [numbers.reshape(-1, 1, 1) for numbers in (gamma, beta, mean, np.sqrt(variance + 1e-3))]
    expected = (plain - by_channel[2]) / by_channel[3] * by_channel[0] + by_channel[1]
    np.testing.assert_allclose(compiled_for(device, [normal], [x])(image)[0], expected, atol=1e-5)


@pytest.mark.parametrize(
    ("step", "count", "change"),
    [(lambda x: ops.Relu(ops.Add(x, np.float32(1))), 1000, 1000), (lambda x: ops.Floor(ops.Relu(x)), 2000, 0)],
)
@pytest.mark.slow
def test_long_chains(device, step, count, change):
    x = parameter(4)
    node = x
    for _ in range(count):
        node = step(node)
    assert len(launches([node], [x], np.zeros(4))) <= count / 10
    found = compiled_for(device, [node], [x])(np.arange(4, dtype=np.float32))[0]
    np.testing.assert_array_equal(found, np.arange(4, dtype=np.float32) + change)


def test_programs_serve_many_shapes():
    x = parameter(-1, 4)
    compiled = PLUGIN.compile_model(Model([ops.Exp(x)], [x]), {})
    request = compiled.create_sync_infer_request()
    programs = {}
    for rows in range(1, 70):
        array = np.full((rows, 4), rows / 100, np.float32)
        request.set_tensor(compiled.inputs[0], Tensor(array))
        request.infer()
        np.testing.assert_allclose(request.get_tensor(compiled.outputs[0]).array, np.exp(array), rtol=1e-6)
        programs[rows] = program_for(compiled, array)
    assert len(set(programs.values())) <= 4
    assert all(program_for(compiled, np.zeros((rows, 4), np.float32)) is programs[rows] for rows in programs)


def test_programs_for_one_shape_each_are_few():
    """A Range that depends on contents of an input is made for these only."""
    x = parameter(kind=Type.i64)
    compiled = PLUGIN.compile_model(Model([ops.Range(np.int64(0), x, np.int64(1), "f32")], [x]), {})
    counts = [*range(1, MAX_PROGRAMS + 1), 1, MAX_PROGRAMS + 1]
    programs = [program_for(compiled, Tensor(np.array(count))) for count in counts]
    # The cache was full: the least recently used program, for 2, was dropped; the one for 1 was kept.
    assert program_for(compiled, Tensor(np.array(1))) is programs[0] is programs[MAX_PROGRAMS]
    assert program_for(compiled, Tensor(np.array(2))) is not programs[1]


def test_weights_are_uploaded_once_for_all_shapes():
    x = parameter(1, 3, -1, 40)
    weights = np.arange(60, dtype=np.float32).reshape(20, 3, 1, 1)
    convolution = ops.Convolution(x, Constant(weights), [1, 1], [0, 0], [0, 0], [1, 1])
    compiled = PLUGIN.compile_model(Model([convolution], [x]), {})
    arrays = [np.empty((1, 3, rows, 40), np.float32) for rows in (40, 80)]
    uploaded = [
        [buffer.memory for launch in program.launches for buffer in launch.buffers() if buffer.memory]
        for program in (program_for(compiled, array) for array in arrays)
    ]
    assert len(uploaded[0]) == 1 and uploaded[0] == uploaded[1]


def test_inputs_that_decide_shapes(device):
    x, size = parameter(-1, -1), parameter(2, kind=Type.i64)
    scaled = ops.Reshape(ops.Relu(x), ops.Multiply(size, np.array([1, 1])), False)
    compiled = compiled_for(device, [scaled, size], [x, size])
    request = compiled.create_infer_request()
    for wanted in ((3, 4), (2, 6), (3, 4), (12, 1)):
        found = request.infer([ROWS, np.array(wanted)])
        np.testing.assert_array_equal(found[0], ROWS.reshape(wanted))
        np.testing.assert_array_equal(found[1], wanted)


def test_shapes_that_are_computed(device):
    """The last two dimensions are merged, whatever their lengths."""
    x = parameter(-1, -1, -1)
    shape = ops.ShapeOf(x)
    kept = ops.Gather(shape, np.array([0]), np.array(0))
    flat = ops.Reshape(x, ops.Concat([kept, Constant(np.array([-1]))], 0), False)
    compiled = compiled_for(device, [flat, shape], [x])
    for lengths in ((2, 3, 4), (1, 5, 1)):
        array = np.zeros(lengths, np.float32)
        found = compiled(array)
        assert found[0].shape == (lengths[0], lengths[1] * lengths[2])
        np.testing.assert_array_equal(found[1], lengths)


@pytest.mark.parametrize(
    ("outputs", "shape", "expected"),
    [
        (lambda x: [x], (2, 2), lambda x: [x]), (lambda x: [x, x], (2, 2), lambda x: [x, x]),
        (lambda x: [ops.Exp(x)] * 2, (2, 2), lambda x: [np.exp(x)] * 2),
        (lambda x: [ops.Exp(x)], (), lambda x: [np.exp(x)]), (lambda x: [ops.Exp(x), x], (0, 3), lambda x: [x, x]),
        (lambda x: [Constant(ROWS)], (2,), lambda x: [ROWS]),
        (lambda x: [ops.Exp(ROWS), x], (2,), lambda x: [np.exp(ROWS), x]),
        (lambda x: [ops.ReduceSum(x, np.array([0]))], (0, 3), lambda x: [np.zeros(3, np.float32)]),
        (lambda x: [Constant(np.array([1.5])), Constant(np.zeros((0, 2), np.float16))], (1,),
         lambda x: [np.array([1.5]), np.zeros((0, 2), np.float16)]),
    ],
)  # fmt: skip
def test_small_models(device, outputs, shape, expected):
    x = parameter(*shape)
    data = np.random.default_rng(0).random(shape, np.float32)
    results = compiled_for(device, outputs(x), [x])(data)
    for found, wanted in zip(results.to_tuple(), expected(np.asarray(data)), strict=True):
        np.testing.assert_allclose(found, np.asarray(wanted), rtol=1e-6, strict=True)


def test_a_tensor_with_gaps(device):
    x = parameter(3, 4)
    request = compiled_for(device, [ops.Exp(x)], [x]).create_infer_request()
    wide = np.zeros((3, 8), np.float32)
    request.set_output_tensor(0, Tensor(wide[:, ::2], shared_memory=True))
    spread = np.repeat(ROWS, 2, 1)
    request.infer({0: spread[:, ::2]}, share_inputs=True)
    np.testing.assert_allclose(wide[:, ::2], np.exp(ROWS), rtol=1e-6)
    assert not wide[:, 1::2].any()


def test_requests_run_at_the_same_time(device):
    x = parameter(-1, 64)
    node = ops.Softmax(ops.MatMul(x, Constant(np.eye(64, dtype=np.float32) * 2), False, False), 1)
    compiled = compiled_for(device, [node], [x])

    def work(index):
        request = compiled.create_infer_request()
        for turn in range(10):
            rows = np.random.default_rng(100 * index + turn).random((1 + (index + turn) % 5, 64)).astype(np.float32)
            powers = np.exp(2 * rows.astype(np.float64))
            np.testing.assert_allclose(request.infer(rows)[0], powers / powers.sum(1, keepdims=True), rtol=1e-5)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))


@pytest.mark.parametrize("is_profiled", [False, True])
def test_profiling(device, is_profiled):
    x = parameter(3, 4)
    node = ops.Softmax(ops.Relu(x), 1, name="softmax")
    request = compiled_for(device, [node], [x], PERF_COUNT=is_profiled).create_infer_request()
    request.infer(ROWS)
    infos = request.get_profiling_info()
    assert [i.node_name for i in infos if i.node_type == "Stage"] == (list(STAGES) if is_profiled else [])
    assert ("softmax" in [i.node_name for i in infos]) == is_profiled
    assert all(i.real_time >= timedelta(0) for i in infos)


def test_refusals_have_reasons(device):
    text = Parameter(Type.string, [2])
    image, weights = parameter(1, 2, 5, 5, 5, 5), parameter(4, 2, 3, 3, 3, 3)
    deep = ops.Convolution(image, weights, [1] * 4, [0] * 4, [0] * 4, [1] * 4)
    for outputs, parameters, reason in (
        ([ops.Equal(text, text)], [text], "string"),
        ([deep], [image, weights], "4 spatial dimensions"),
    ):
        with pytest.raises(UnsupportedOperationError, match=reason):
            compiled_for(device, outputs, parameters)
        query = hetero.Core().query_model(Model(outputs, parameters), device)
        assert reason in query.refused[outputs[0].friendly_name]


def test_values_with_too_many_elements_are_refused(device):
    x, y = parameter(2**16, 1), parameter(1, 2**16)
    with pytest.raises(HeteroError, match="Add 'sum' needs 4294967296 elements"):
        compiled_for(device, [ops.Add(x, y, name="sum")], [x, y])


def test_mismatched_shapes_are_reported(device):
    x, y = parameter(-1), parameter(-1)
    compiled = compiled_for(device, [ops.Add(x, y)], [x, y])
    with pytest.raises(HeteroError, match=r"\[2\].*\[3\]"):
        compiled([np.zeros(2, np.float32), np.zeros(3, np.float32)])


@pytest.mark.parametrize("shares_memory", [True, False])
def test_many_inputs_and_outputs(device, monkeypatch, shares_memory):
    """On devices with memory of their own, which have to be asked for each copy, and on others."""
    if not shares_memory:
        monkeypatch.setattr(OpenCLDevice, "shares_host_memory", False)
    xs = [parameter(3, 4) for _ in range(6)] + [parameter(2, kind=Type.boolean), parameter(0, 2)]
    request = compiled_for(device, [*map(ops.Negative, xs[:6]), ops.LogicalNot(xs[6]), ops.Abs(xs[7])], xs)
    request = request.create_infer_request()
    request.set_output_tensor(1, Tensor(np.zeros((3, 8), np.float32)[:, ::2], shared_memory=True))
    wide = np.arange(24, dtype=np.float32).reshape(3, 8)
    for number in range(3):
        arrays = [wide[:, ::2] + number * index for index in range(6)]
        found = request.infer([*arrays, np.array([True, False]), np.zeros((0, 2))], share_inputs=True).to_tuple()
        np.testing.assert_array_equal(found[:6], np.negative(arrays))
        assert found[6].tolist() == [False, True] and found[7].shape == (0, 2)


@pytest.mark.parametrize("shares_memory", [True, False])
def test_sizes_that_depend_on_data(device, monkeypatch, shares_memory):
    if not shares_memory:
        monkeypatch.setattr(OpenCLDevice, "shares_host_memory", False)
    x = parameter(50)
    request = compiled_for(device, [ops.NonZero(x), ops.Negative(ops.NonZero(ops.Abs(x)))], [x]).create_infer_request()
    for count in (3, 50, 0):
        found = request.infer((np.arange(50) < count).astype(np.float32)).to_tuple()
        np.testing.assert_array_equal(found[0], [np.arange(count)])
        np.testing.assert_array_equal(found[1], [-np.arange(count)])


def test_tensors_that_take_turns(device):
    """Kernels keep their arguments for some places of the tensors; they are right for any others too."""
    x = parameter(4)
    request = compiled_for(device, [ops.Negative(x), ops.Exp(x)], [x]).create_infer_request()
    context = request.get_compiled_model().get_context()
    inputs, outputs = ([context.create_tensor(Type.f32, [4]) for _ in range(5)] for _ in range(2))
    for turn in (0, 1, 0, 1, 2, 3, 4, 0, 2, 2, 1, 0):
        data = np.arange(4, dtype=np.float32) + turn
        inputs[turn].copy_from(data)
        request.set_input_tensor(inputs[turn])
        request.set_output_tensor(0, outputs[turn])
        exponentials = request.infer()[1]
        np.testing.assert_allclose(exponentials, np.exp(data), rtol=1e-6)
        found = np.empty(4, np.float32)
        outputs[turn].copy_to(found)
        np.testing.assert_array_equal(found, -data)


def test_memory_outlives_the_kernels_that_use_it(device, monkeypatch):
    """A request that is deleted while kernels run leaves its memory to them."""
    x = parameter(3, 4)
    compiled = compiled_for(device, [ops.Softmax(ops.Exp(x), 1)], [x])
    for status, is_kept in ((0, False), (1, True)):
        request = compiled.create_infer_request()
        request.infer(ROWS)
        bound = request._request.request.bound_model
        bound.begin([Tensor(ROWS)], [Tensor(Type.f32, [3, 4])])
        bound.launch(lambda: None)
        bound.bound_programs[0].queue.finish()  # whatever the status says below, memory is freed after the kernels
        arena = weakref.ref(bound.bound_programs[0].arena)
        with monkeypatch.context() as patch:
            patch.setattr(workspace, "execution_status", lambda event, status=status: status)
            del request, bound
            gc.collect()
        assert (arena() is not None) == is_kept
    workspace._abandoned.clear()
