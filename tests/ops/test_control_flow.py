"""If, Loop and TensorIterator: built by the same calls in OpenVINO and here, they infer and compute the same.

A builder is a function of the operations of one of the two, its ``Model`` class and a function that makes Parameters.
"""

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import openvino
import pytest

import hetero
from hetero.ops.opsets import make_modules

F32 = np.float32
X = np.arange(2, dtype=F32).reshape(1, 2)


def _library(module, model, shape) -> SimpleNamespace:
    def parameter(dimensions, dtype=F32):
        return module.parameter(shape(dimensions), dtype)

    return SimpleNamespace(
        op=module, model=model, parameter=parameter, constant=lambda v: module.constant(np.asarray(v))
    )


OURS = _library(make_modules()["opset13"], hetero.Model, hetero.PartialShape)
THEIRS = _library(import_module("openvino.opset13"), openvino.Model, openvino.PartialShape)


def _run_ours(model, arrays):
    return [np.array(a) for a in hetero.Core().compile_model(model, "TEMPLATE")(list(arrays)).to_tuple()]


def _run_theirs(model, arrays):
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = compiled(list(arrays))
    return [np.array(results[output]) for output in compiled.outputs]


def same(build, *arrays, shapes=None):
    """Shapes and results are OpenVINO's, also of a clone; ``shapes`` are ours where OpenVINO's say what may not be."""
    ours, theirs = build(OURS), build(THEIRS)
    theirs.validate_nodes_and_infer_types()
    wanted = shapes or [str(output.partial_shape) for output in theirs.outputs]
    assert [str(output.partial_shape) for output in ours.outputs] == wanted
    expected = _run_theirs(theirs, arrays)
    for model in (ours, ours.clone()):
        for found, wanted in zip(_run_ours(model, arrays), expected, strict=True):
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_allclose(found, wanted, rtol=1e-6)


def loop(lib, *, trip_count=4, starts=True, goes_on=None, shape=(1, 2), body_shape=(-1, -1)):
    """x doubled again and again plus w, and every state of it; ``goes_on`` makes a condition of iteration and state."""
    op = lib.op
    x, w = lib.parameter(list(shape)), lib.parameter([2])
    inputs = [x, w]
    if trip_count is None:
        inputs.append(lib.parameter([], np.int64))
    if starts is None:
        inputs.append(lib.parameter([], np.bool_))
    count = lib.constant(np.int64(trip_count)) if trip_count is not None else inputs[2]
    first = lib.constant(starts) if starts is not None else inputs[-1]
    state, addend, number = lib.parameter(list(body_shape)), lib.parameter([2]), lib.parameter([], np.int64)
    after = op.add(op.multiply(state, lib.constant(F32(2))), addend)
    again = lib.constant(True) if goes_on is None else goes_on(op, number, after)
    body = lib.model([lib.op.result(again), lib.op.result(after)], [number, state, addend], "body")
    node = op.loop(count.output(0), first.output(0))
    node.set_function(body)
    node.set_special_body_ports([0, 0])
    node.set_merged_input(state, x.output(0), body.results[1].output(0))
    node.set_invariant_input(addend, w.output(0))
    last = node.get_iter_value(body.results[1].output(0), -1)
    every = node.get_concatenated_slices(body.results[1].output(0), 0, 1, 1, -1, 0)
    return lib.model([lib.op.result(last), lib.op.result(every)], inputs, "loop")


def _below(limit):
    return lambda op, number, after: op.less(number, op.constant(np.int64(limit)))


W = np.array([1, -1], F32)
ONE_OR_NONE = ["[1,2]", "[?,2]"]
LOOPS = {
    "a count": ({}, (), None),
    "a count and a condition": ({"goes_on": _below(1)}, (), None),
    "a count that is an input": ({"trip_count": None}, (np.int64(3),), None),
    "a condition that is an input": ({"starts": None}, (np.bool_(True),), ONE_OR_NONE),
    "no limit but the condition": ({"trip_count": -1, "goes_on": _below(2)}, (), None),
    "a dynamic state": ({"shape": (-1, 2)}, (), None),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loop_as_openvino(name):
    keywords, more, shapes = LOOPS[name]
    same(lambda lib: loop(lib, **keywords), X, W, *more, shapes=shapes)


def test_what_openvino_calls_these_operations():
    for name in ("loop", "tensor_iterator", "if_op"):
        ours, theirs = getattr(OURS.op, name)(), getattr(THEIRS.op, name)()
        assert ours.type_info == (theirs.type_info.name, theirs.type_info.version_id)
