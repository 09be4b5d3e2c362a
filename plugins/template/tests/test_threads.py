"""INFERENCE_NUM_THREADS bounds the threads of matrix products while an inference runs."""

import threading

import numpy as np
import pytest
import threadpoolctl

from hetero import Core, Model, Op, Parameter, Type, ops

X = np.ones([2, 2], np.float32)


def blas_threads() -> int:
    return max(p["num_threads"] for p in threadpoolctl.threadpool_info() if p["user_api"] == "blas")


USUAL = blas_threads()


class Watch(Op):
    """The data unchanged; calls ``on_run`` in each inference."""

    input_names = ("data",)

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

    def evaluate(self, outputs, inputs):
        self.on_run()
        outputs[0].copy_from(inputs[0])
        return True


def watched(threads: int, act=lambda: None, **options):
    """A request, and how many threads matrix products could use in each of its inferences; ``act`` is called there."""
    seen = []

    def on_run():
        act()
        seen.append(blas_threads())

    x = Parameter(Type.f32, [2, 2], name="x")
    watch = Watch(ops.MatMul(x, x, False, False))
    watch.on_run = on_run
    model = Model(watch, [x])
    compiled = Core().compile_model(model, "TEMPLATE", {"INFERENCE_NUM_THREADS": threads, **options})
    return compiled.create_infer_request(), seen


@pytest.mark.parametrize(("threads", "expected"), [(0, USUAL), (1, 1), (USUAL, USUAL)])
def test_the_bound_holds_in_the_inference_alone(threads, expected):
    request, seen = watched(threads)
    np.testing.assert_array_equal(request.infer(X)[0], X @ X)
    request.start_async(X)
    request.wait()
    assert seen == [expected, expected] and blas_threads() == USUAL


@pytest.mark.parametrize(
    ("threads", "options", "expected"),
    [
        (0, {"PERFORMANCE_HINT": "THROUGHPUT"}, 1),
        (0, {"NUM_STREAMS": 1}, USUAL),
        (USUAL, {"NUM_STREAMS": 2}, USUAL),
    ],
)
def test_streams_share_the_cores(threads, options, expected):
    request, seen = watched(threads, **options)
    request.infer(X)
    assert seen == [expected] and blas_threads() == USUAL


def test_an_error_ends_the_bound():
    def fail():
        raise ValueError("no")

    request, _ = watched(1, fail)
    with pytest.raises(RuntimeError, match="ValueError: no"):
        request.infer(X)
    assert blas_threads() == USUAL


def test_the_smallest_bound_counts_while_several_run():
    both, first_ended = threading.Barrier(2), threading.Event()
    low, seen_low = watched(1, lambda: both.wait(60))
    high, seen_high = watched(USUAL + 3, lambda: (both.wait(60), first_ended.wait(60)))
    for request in (low, high):
        request.start_async(X)
    low.wait()
    first_ended.set()
    high.wait()
    assert (seen_low, seen_high) == ([1], [USUAL]) and blas_threads() == USUAL
