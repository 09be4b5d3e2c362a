"""Models whose shapes depend on data: chains of programs, with host steps between them."""

import gc

import numpy as np
import pytest
from hetero_opencl.compile.built_program import BuiltProgram
from hetero_opencl.compile.segments import cut

import hetero
from hetero import Constant, Model, Parameter, PartialShape, Type, ops
from hetero.graph import VariableInfo
from hetero.system.errors import GraphError, HeteroError

CORE = hetero.Core()
# More elements than MOST_DECIDING: their contents do not select a program.
DATA = np.linspace(-1, 3, 600, dtype=np.float32).reshape(2, 300)


def parameter(*shape, kind=Type.f32):
    return Parameter(kind, PartialShape(shape))


def rows_by_contents(x):
    """Reshape x; its largest element is the number of rows."""
    rows = ops.Convert(ops.ReduceMax(x, np.int64([0, 1]), False), Type.i64)
    shape = ops.Concat([ops.Unsqueeze(rows, np.int64(0)), Constant(np.int64([-1]))], 0)
    return ops.Reshape(x, shape, False)


def chain_of(x, count):
    """Return a chain of ``count`` segments, one per Reshape."""
    value = x
    for _ in range(count):
        value = ops.Multiply(rows_by_contents(value), np.float32(1))
    return value


def test_a_shape_that_the_device_computes(device):
    x = parameter(2, 300)
    model = Model([ops.Negative(rows_by_contents(x)), ops.Abs(x)], [x])
    request = CORE.compile_model(model, device).create_infer_request()
    for scale in (1, 2, 1, 4):
        reshaped, absolute = request.infer([DATA * scale]).to_tuple()
        np.testing.assert_array_equal(reshaped, -DATA.reshape(3 * scale, -1) * scale)
        np.testing.assert_array_equal(absolute, np.abs(DATA * scale))


def test_parts_of_a_cut():
    x = parameter(2, 300)
    last = ops.Negative(rows_by_contents(x))
    part = cut(Model([last, ops.Abs(x)], [x]))
    kinds = [type(node) for node in part.model.get_ordered_ops()]
    assert ops.Abs in kinds and ops.ReduceMax in kinds and ops.Reshape not in kinds
    assert [value.node.type_info.name for value in part.carried] == ["Concat"] and part.results == [1]
    assert sorted(value.node.type_info.name for value in part.rest.sources) == ["Concat", "Parameter"]
    assert part.rest.results == [0] and not part.host_steps


def test_a_condition_that_the_device_computes(device):
    x = parameter(2, 300)
    above = ops.Greater(ops.ReduceMean(x, np.int64([0, 1]), False), np.float32(0))
    node = ops.If(above)
    bodies = []
    for function in (ops.Exp, ops.Negative):
        inner = parameter(2, 300)
        bodies.append(Model([function(inner)], [inner]))
    node.set_then_body(bodies[0])
    node.set_else_body(bodies[1])
    node.set_input(x.output(0), *(body.parameters[0] for body in bodies))
    chosen = node.set_output(*(body.results[0] for body in bodies))
    request = CORE.compile_model(Model([chosen], [x]), device).create_infer_request()
    for data, expected in ((DATA, np.exp(DATA)), (-DATA, DATA), (DATA, np.exp(DATA))):
        np.testing.assert_allclose(request.infer([data])[0], expected, rtol=1e-6)


def test_many_segments_do_not_nest(device):
    x = parameter(2, 300)
    compiled = CORE.compile_model(Model([chain_of(x, 60)], [x]), device)
    np.testing.assert_array_equal(compiled([DATA])[0], DATA.reshape(3, -1))


def test_segments_in_the_background(device):
    x = parameter(2, 300)
    compiled = CORE.compile_model(Model([chain_of(x, 3)], [x]), device)
    requests = [compiled.create_infer_request() for _ in range(4)]
    for scale, request in zip((1, 2, 4, 8), requests):
        request.start_async([DATA * scale])
    for scale, request in zip((1, 2, 4, 8), requests):
        request.wait()
        np.testing.assert_array_equal(request.get_output_tensor(0).data, DATA.reshape(3 * scale, -1) * scale)


def test_profiling_covers_all_segments(device):
    x = parameter(2, 300)
    compiled = CORE.compile_model(Model([ops.Negative(rows_by_contents(x))], [x]), device, {"PERF_COUNT": True})
    request = compiled.create_infer_request()
    request.infer([DATA])
    node_types = {info.node_type for info in request.profiling_info}
    assert {"ReduceMax", "Negative"} <= node_types
    assert {op.type_info.name for op in compiled.get_runtime_model().get_ordered_ops()} >= {"ExecutionNode"}


def test_outputs_handed_to_another_model(device):
    """An output of a later segment is written to a remote tensor, like an output of a single program."""
    x = parameter(2, 300)
    compiled = CORE.compile_model(Model([rows_by_contents(x)], [x]), device)
    request = compiled.create_infer_request()
    target = compiled.get_context().create_tensor(Type.f32, [1, 1])
    request.set_output_tensor(0, target)
    request.infer([DATA * 2])
    found = np.empty((6, 100), np.float32)
    target.copy_to(found)
    np.testing.assert_array_equal(found, DATA.reshape(6, 100) * 2)


def test_a_variable_is_read_before_a_later_segment_sets_it(device):
    info = VariableInfo(PartialShape([2, 300]), Type.f32, "state")
    x = parameter(2, 300)
    before = ops.ReadValue(np.zeros((2, 300), np.float32), info)
    total = ops.Add(before, x)
    model = Model([rows_by_contents(x), total], [x], sinks=[ops.Assign(total, info)])
    request = CORE.compile_model(model, device).create_infer_request()
    for count in (1, 2, 3):
        reshaped, found = request.infer([DATA]).to_tuple()
        np.testing.assert_allclose(found, DATA * count, rtol=1e-6)
        np.testing.assert_array_equal(reshaped, DATA.reshape(3, -1))


def test_mismatched_contents(device):
    x = parameter(2, 300)
    request = CORE.compile_model(Model([rows_by_contents(x)], [x]), device).create_infer_request()
    with pytest.raises(HeteroError, match="Reshape"):
        request.infer([DATA / 3 * 7])
    np.testing.assert_array_equal(request.infer([DATA])[0], DATA.reshape(3, -1))


def test_shapes_that_no_kernel_computes():
    x = parameter(-1, 4)
    with pytest.raises(GraphError, match="Abs 'Abs_.*' needs shapes that depend on data"):
        cut(Model([ops.Abs(x)], [x]))


def growing_loop(x, iterations):
    """Return a Loop that negates its state and appends the iteration number as a row, in each iteration."""
    width = x.shape[1]
    state, number = parameter(-1, width), parameter(kind=Type.i64)
    row = ops.Convert(ops.Broadcast(number, np.int64([1, width])), Type.f32)
    grown = ops.Concat([ops.Negative(state), row], 0)
    body = Model([Constant(np.array(True)), grown], [number, state])
    node = ops.Loop(np.int64(iterations), np.bool_(True))
    node.set_function(body)
    node.set_special_body_ports([0, 0])
    node.set_merged_input(state, x.output(0), body.results[1].output(0))
    return node.get_iter_value(body.results[1].output(0), -1)


def test_a_state_that_grows_makes_programs_and_kernels_once(device, monkeypatch):
    x = parameter(1, 2)
    request = CORE.compile_model(Model([growing_loop(x, 12)], [x]), device).create_infer_request()
    made = []
    make_kernels = BuiltProgram.make_kernels
    monkeypatch.setattr(BuiltProgram, "make_kernels", lambda self: made.append(self) or make_kernels(self))
    expected = [(-1) ** (12 + row) * (row - 1.0) for row in range(1, 13)]
    for first in (0.5, 2, 3):
        (found,) = request.infer(np.full((1, 2), first, np.float32)).to_tuple()
        np.testing.assert_array_equal(found, np.repeat([[first], *([n] for n in expected)], 2, axis=1))
        counts, made[:] = len(set(made)), []
        assert 1 <= counts <= 6 if first == 0.5 else counts == 0


def test_programs_of_other_lengths_keep_no_memory(device):
    """The tensors that were bound in earlier iterations are freed when they have grown."""
    x = parameter(1, 1000)
    gc.collect()
    before = CORE.get_property(device, "GPU_MEMORY_STATISTICS")["cl_mem"]
    request = CORE.compile_model(Model([growing_loop(x, 40)], [x]), device).create_infer_request()
    request.infer(np.zeros((1, 1000), np.float32))
    gc.collect()
    used = CORE.get_property(device, "GPU_MEMORY_STATISTICS")["cl_mem"] - before
    # Two states and the arena. All lengths together are twenty times as large as the last one.
    assert 41 * 4000 < used < 8 * 41 * 4000
    del request
    gc.collect()
    assert CORE.get_property(device, "GPU_MEMORY_STATISTICS")["cl_mem"] == before
