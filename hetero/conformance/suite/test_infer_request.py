"""Infer requests: inputs, outputs, invalid tensors, dynamic shapes and profiling."""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from hetero import CompiledModel, Core, InferRequest, Tensor, Type
from hetero import properties as props
from hetero.conformance.samples import SampleModel, assert_close
from hetero.system.errors import GraphError, TensorError


def test_ways_to_give_inputs(core: Core, device: str, sample: SampleModel) -> None:
    request = core.compile_model(sample.two_inputs(), device).create_infer_request()
    a, b = sample.array(1), sample.array(2)
    inputs: Any
    for inputs in ({"a": a, "b": b}, {1: b, 0: a}, [a, b], [Tensor(a), Tensor(b)]):
        results = request.infer(inputs)
        assert_close(results["c"], sample.expected(a))
        assert_close(results[1], sample.expected(b))


def test_inferences_follow_each_other(infer_request: InferRequest, sample: SampleModel) -> None:
    """Each result belongs to its input, and the next inference does not overwrite it."""
    arrays = [sample.array(seed) for seed in range(3)]
    results = [infer_request.infer(array)[0] for array in arrays]
    for array, result in zip(arrays, results):
        assert_close(result, sample.expected(array))


def test_inputs_are_kept_and_not_changed(infer_request: InferRequest, sample: SampleModel) -> None:
    array = sample.array()
    before = array.copy()
    for result in (infer_request.infer(array, share_inputs=True), infer_request.infer(), infer_request.infer()):
        assert_close(result[0], sample.expected(before))
    np.testing.assert_array_equal(array, before)


def test_requests_of_one_model_are_independent(compiled: CompiledModel, sample: SampleModel) -> None:
    requests = [compiled.create_infer_request() for _ in range(3)]
    for seed, request in enumerate(requests):
        request.infer(sample.array(seed))
    for seed, request in enumerate(requests):
        assert_close(request.get_tensor("y").data, sample.expected(sample.array(seed)))


def test_tensors_fit_their_ports(infer_request: InferRequest, sample: SampleModel) -> None:
    infer_request.infer(sample.array())
    expected = sample.expected(sample.array())
    for name, array in (("x", sample.array()), ("y", expected)):
        tensor = infer_request.get_tensor(name)
        assert (tensor.element_type, tensor.shape) == (Type(array.dtype), array.shape)
        assert infer_request.get_tensor(name) is tensor
    with pytest.raises(GraphError, match="nothing"):
        infer_request.get_tensor("nothing")


def test_input_tensors_are_read_when_the_inference_begins(infer_request: InferRequest, sample: SampleModel) -> None:
    memory = sample.array(0)
    tensor = Tensor(memory, shared_memory=True)
    infer_request.set_tensor("x", tensor)
    assert infer_request.get_tensor("x") is tensor
    for seed in (0, 1):
        memory[:] = sample.array(seed)
        assert_close(infer_request.infer()[0], sample.expected(sample.array(seed)))


def test_output_tensors_of_the_user_are_written_in_place(infer_request: InferRequest, sample: SampleModel) -> None:
    expected = sample.expected(sample.array())
    memory = np.zeros_like(expected)
    tensor = Tensor(memory, shared_memory=True)
    infer_request.set_tensor("y", tensor)
    infer_request.infer(sample.array())
    assert infer_request.get_tensor("y") is tensor
    assert_close(memory, expected)


def test_tensors_over_a_part_of_an_array(infer_request: InferRequest, sample: SampleModel) -> None:
    """Regions of interest: input and output are not contiguous, and memory around the output is not overwritten."""
    array = sample.array()
    expected = sample.expected(array)
    source, target = np.zeros([*array.shape, 2], array.dtype), np.ones([*expected.shape, 2], expected.dtype)
    source[..., 1] = array
    infer_request.set_tensor("x", Tensor(source[..., 1], shared_memory=True))
    infer_request.set_tensor("y", Tensor(target[..., 1], shared_memory=True))
    infer_request.infer()
    assert_close(np.ascontiguousarray(target[..., 1]), expected)
    np.testing.assert_array_equal(target[..., 0], np.ones_like(expected))


def test_batches(infer_request: InferRequest, sample: SampleModel) -> None:
    """Several tensors for one input, concatenated along its first dimension when the inference starts."""
    for seed in (0, 1):
        array = sample.array(seed)
        infer_request.set_input_tensors([Tensor(array[:1]), Tensor(array[1:])])
        assert_close(infer_request.infer()[0], sample.expected(array))
    for wrong in ([], [Tensor(array)] * 2, [Tensor(array[:1]), Tensor(array[1:].astype(np.int16))]):
        with pytest.raises(TensorError, match="'x'"):
            infer_request.set_input_tensors(wrong)
    assert_close(infer_request.infer(array)[0], sample.expected(array))


def test_read_only_inputs(infer_request: InferRequest, sample: SampleModel) -> None:
    array = sample.array()
    array.flags.writeable = False
    assert_close(infer_request.infer(array, share_inputs=True)[0], sample.expected(array))


def test_a_tensor_shared_by_two_requests(core: Core, device: str, sample: SampleModel) -> None:
    """The output of one request is the input of the other, as one tensor object."""
    first = core.compile_model(sample.model(), device).create_infer_request()
    middle = first.get_tensor("y")
    second = core.compile_model(sample.model(), device).create_infer_request()
    second.set_tensor("x", middle)
    for seed in (0, 1):
        array = sample.array(seed)
        first.infer(array)
        assert_close(second.infer()[0], sample.expected(array, length=2), scale=2)


def wrong_tensors(sample: SampleModel) -> list[tuple[Tensor, str]]:
    """Return tensors of a wrong element type, lengths or rank, each with a pattern of the expected message."""
    good = sample.array()
    other = np.int16 if sample.element_type is not Type.i16 else np.int32
    return [
        (Tensor(good.astype(other)), sample.element_type.to_string()),
        (Tensor(np.concatenate([good, good], -1)), r"shape"),
        (Tensor(good[0]), r"shape"),
        (Tensor(good[None]), r"shape"),
    ]


@pytest.mark.parametrize("case", range(4), ids=["type", "length", "lower rank", "higher rank"])
def test_a_wrong_tensor_is_refused_and_the_request_stays_usable(
    infer_request: InferRequest, sample: SampleModel, case: int
) -> None:
    tensor, message = wrong_tensors(sample)[case]
    infer_request.infer(sample.array())
    for act in (
        lambda: infer_request.set_tensor("x", tensor),
        lambda: infer_request.set_input_tensor(tensor),
        lambda: infer_request.infer(tensor),
        lambda: infer_request.start_async({"x": tensor}),
    ):
        with pytest.raises(TensorError, match=f"'x'.*{message}"):
            act()
    assert_close(infer_request.infer()[0], sample.expected(sample.array()))


def test_a_wrong_output_tensor_is_refused_and_the_request_stays_usable(
    infer_request: InferRequest, sample: SampleModel
) -> None:
    expected = sample.expected(sample.array())
    with pytest.raises(TensorError, match="'y'.*shape"):
        infer_request.set_tensor("y", Tensor(np.stack([expected, expected])))
    with pytest.raises(TensorError, match=f"'y'.*{Type(expected.dtype)}"):
        infer_request.set_tensor("y", Tensor(Type.i16, expected.shape))
    assert_close(infer_request.infer(sample.array())[0], expected)


@pytest.mark.needs("dynamic shapes")
def test_dynamic_shapes(core: Core, device: str, sample: SampleModel) -> None:
    """Any number of rows in any order, including 0; static dimensions are still checked."""
    request = core.compile_model(sample.model(rows=-1), device).create_infer_request()
    for rows in (1, 4, 0, 2, 4):
        array = sample.array(rows, rows)
        assert_close(request.infer(array)[0], sample.expected(array))
        assert request.get_tensor("y").shape == sample.expected(array).shape
    with pytest.raises(TensorError, match="'x'.*shape"):
        request.infer(np.concatenate([sample.array(), sample.array()], -1))
    sample.check(request.infer)


@pytest.mark.needs("dynamic shapes")
def test_an_output_tensor_of_the_user_for_a_dynamic_shape(core: Core, device: str, sample: SampleModel) -> None:
    """The tensor takes the shape of the result; shared memory that is too small raises an error."""
    request = core.compile_model(sample.model(rows=-1), device).create_infer_request()
    expected = sample.expected(sample.array(0, 2))
    tensor = Tensor(Type(expected.dtype), expected.shape)
    request.set_tensor("y", tensor)
    for rows in (2, 3, 1):
        request.infer(sample.array(rows, rows))
        assert_close(tensor.data, sample.expected(sample.array(rows, rows)))
    request.set_tensor("y", Tensor(np.zeros_like(expected), shared_memory=True))
    with pytest.raises(TensorError):
        request.infer(sample.array(0, 5))
    assert_close(request.infer(sample.array(0, 2))[0], expected)


def test_profile_of_the_last_inference(core: Core, device: str, sample: SampleModel) -> None:
    """With PERF_COUNT, the profile has times of the operations; without, it is empty."""
    has_profiling = props.enable_profiling in core.get_property(device, props.supported_properties)
    for profiled in (False, True) if has_profiling else (None,):
        options: dict[str, Any] = {} if profiled is None else {props.enable_profiling: profiled}
        request = core.compile_model(sample.model(length=2), device, options).create_infer_request()
        for seed in (0, 1):
            request.infer(sample.array(seed))
        infos = request.get_profiling_info()
        assert bool(infos) == bool(profiled)
        assert all(info.real_time >= timedelta(0) and info.node_name and info.node_type for info in infos)
        assert len({(info.node_name, info.node_type) for info in infos}) == len(infos), "an operation is listed twice"
