"""Remote tensors: contents, regions, use as inputs and outputs, and invalid ones."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from hetero import CompiledModel, Core, InferRequest, RemoteContext, RemoteTensor, Tensor, Type
from hetero.conformance.samples import SampleModel, assert_close
from hetero.plugin import Region, RemoteMemory
from hetero.system.errors import TensorError

pytestmark = pytest.mark.needs("remote tensors")


@pytest.fixture
def context(core: Core, device: str) -> RemoteContext:
    return core.get_default_context(device)


@pytest.fixture
def compiled(core: Core, context: RemoteContext, sample: SampleModel) -> CompiledModel:
    return core.compile_model(sample.model(), context)


class ForeignContext(RemoteContext):
    """A context of another device."""

    def create_memory(self, byte_size: int, properties: Mapping[str, Any]) -> RemoteMemory:
        return ForeignMemory(self, byte_size)


class ForeignMemory(RemoteMemory):
    def read(self, region: Region, array: np.ndarray) -> None:
        array[...] = 0

    def write(self, region: Region, array: np.ndarray) -> None:
        return


def remote(context: RemoteContext, array: np.ndarray) -> RemoteTensor:
    tensor = context.create_tensor(Type(array.dtype), array.shape)
    tensor.copy_from(array)
    return tensor


def host(tensor: Tensor) -> np.ndarray:
    array = np.empty(tensor.shape, tensor.element_type.to_dtype())
    tensor.copy_to(array)
    return array


def test_contexts(core: Core, device: str, context: RemoteContext, sample: SampleModel) -> None:
    compiled = core.compile_model(sample.model(), device)
    assert compiled.get_context() == context == core.get_default_context(device)
    assert context.get_device_name().split(".")[0] == device.split(".")[0]


def test_contents_and_attributes_of_tensors(context: RemoteContext, sample: SampleModel) -> None:
    array = sample.array()
    tensor = remote(context, array)
    assert isinstance(tensor, RemoteTensor) and tensor.context == context
    assert (tensor.element_type, tensor.shape) == (sample.element_type, array.shape)
    assert (tensor.byte_size, tensor.strides) == (array.nbytes, array.strides)
    assert tensor.get_device_name() == context.get_device_name()
    np.testing.assert_array_equal(host(tensor), array)
    second = context.create_tensor(sample.element_type, array.shape)
    second.copy_from(tensor)
    copied = context.create_host_tensor(sample.element_type, array.shape)
    second.copy_to(copied)
    np.testing.assert_array_equal(copied.data, array)
    with pytest.raises(TensorError, match="copy it to a host tensor"):
        tensor.data  # noqa: B018


def test_parameters_of_tensors(context: RemoteContext, sample: SampleModel) -> None:
    tensor = remote(context, sample.array())
    RemoteTensor.type_check(tensor, tensor.get_params())
    with pytest.raises(TensorError, match="no parameter NONE_SUCH"):
        RemoteTensor.type_check(tensor, {"NONE_SUCH": 1})


def test_regions(context: RemoteContext, sample: SampleModel) -> None:
    array = sample.array(rows=5)
    tensor = remote(context, array)
    begin, end = [1] * array.ndim, [length - (length > 3) for length in array.shape]
    part = tuple(map(slice, begin, end))
    region = RemoteTensor(tensor, begin, end)
    np.testing.assert_array_equal(host(region), array[part])
    array[part] = array[part][::-1].copy()
    region.copy_from(array[part])
    np.testing.assert_array_equal(host(tensor), array)


@pytest.mark.parametrize("side", ["input", "output", "both"])
def test_inputs_and_outputs(
    infer_request: InferRequest, context: RemoteContext, sample: SampleModel, side: str
) -> None:
    expected = sample.expected(sample.array())
    if side != "input":
        infer_request.set_tensor("y", context.create_tensor(Type(expected.dtype), expected.shape))
    output_tensor = infer_request.get_tensor("y")
    for seed in range(3):
        array = sample.array(seed)
        input_tensor = Tensor(array) if side == "output" else remote(context, array)
        infer_request.infer([input_tensor])
        assert_close(host(output_tensor), sample.expected(array))
        np.testing.assert_array_equal(host(input_tensor), array)  # inputs must not be overwritten
    assert infer_request.get_tensor("y") is output_tensor


def test_host_tensors_of_the_context_as_input_and_output(
    infer_request: InferRequest, context: RemoteContext, sample: SampleModel
) -> None:
    """The device may compute in host tensors directly; the host must see the results."""
    expected = sample.expected(sample.array())
    input_tensor = context.create_host_tensor(sample.element_type, sample.array().shape)
    output_tensor = context.create_host_tensor(Type(expected.dtype), expected.shape)
    infer_request.set_tensor("x", input_tensor)
    infer_request.set_tensor("y", output_tensor)
    for seed in range(3):
        input_tensor.data[...] = sample.array(seed)
        infer_request.infer()
        assert_close(output_tensor.data, sample.expected(sample.array(seed)))
    assert infer_request.get_tensor("y") is output_tensor


def test_tensors_that_the_context_holds(context: RemoteContext, sample: SampleModel) -> None:
    assert context.holds(remote(context, sample.array()))
    assert not context.holds(ForeignContext("STRANGE").create_tensor(sample.element_type, [2]))
    assert isinstance(context.holds(Tensor(sample.array())), bool)


def test_regions_as_inputs(infer_request: InferRequest, context: RemoteContext, sample: SampleModel) -> None:
    rows = sample.array(rows=6)
    tensor = remote(context, rows)
    for begin in (0, 1, 4):
        region = RemoteTensor(tensor, [begin] + [0] * len(sample.row), [begin + 2, *sample.row])
        assert_close(infer_request.infer([region])[0], sample.expected(rows[begin : begin + 2]))
    np.testing.assert_array_equal(host(tensor), rows)


def test_an_output_in_the_memory_of_the_input(
    infer_request: InferRequest, context: RemoteContext, sample: SampleModel
) -> None:
    tensor = remote(context, sample.array())
    infer_request.set_tensor("x", tensor)
    infer_request.set_tensor("y", tensor)
    infer_request.infer()
    assert_close(host(tensor), sample.expected(sample.array()))


def test_output_of_one_request_as_input_of_another(core: Core, context: RemoteContext, sample: SampleModel) -> None:
    """One remote tensor is the output of one request and the input of the next."""
    array = sample.array()
    between = sample.expected(array)
    requests = [core.compile_model(sample.model(), context).create_infer_request() for _ in range(2)]
    shared = context.create_tensor(Type(between.dtype), between.shape)
    requests[0].set_tensor("y", shared)
    requests[1].set_tensor("x", shared)
    requests[0].infer([array])
    assert_close(requests[1].infer()[0], sample.expected(array, length=2), scale=2)


@pytest.mark.needs("dynamic shapes")
def test_shapes_known_at_the_inference(core: Core, context: RemoteContext, sample: SampleModel) -> None:
    request = core.compile_model(sample.model(-1), context).create_infer_request()
    first = sample.expected(sample.array())
    output_tensor = context.create_tensor(Type(first.dtype), first.shape)
    request.set_tensor("y", output_tensor)
    for rows in (2, 7, 1):
        array = sample.array(rows=rows)
        request.infer([remote(context, array)])
        assert_close(host(output_tensor), sample.expected(array))


def test_invalid_tensors_are_refused_and_the_request_stays_usable(
    infer_request: InferRequest, context: RemoteContext, sample: SampleModel
) -> None:
    array = sample.array()
    other = Type.u16 if sample.element_type is not Type.u16 else Type.u32
    for tensor, problem in (
        (context.create_tensor(other, array.shape), "elements, but the tensor has"),
        (context.create_tensor(sample.element_type, [*array.shape, 1]), "takes the shape"),
        (ForeignContext("STRANGE").create_tensor(sample.element_type, array.shape), "remote tensor of STRANGE"),
    ):
        with pytest.raises(TensorError, match=problem):
            infer_request.set_tensor("x", tensor)
        assert_close(infer_request.infer([array])[0], sample.expected(array))


@pytest.mark.needs("placement by HETERO")
def test_under_hetero(core: Core, device: str, context: RemoteContext, sample: SampleModel) -> None:
    """HETERO accepts the device's remote tensors."""
    array = sample.array()
    compiled = core.compile_model(sample.model(), f"HETERO:{device}")
    expected = sample.expected(array)
    request = compiled.create_infer_request()
    output_tensor = context.create_tensor(Type(expected.dtype), expected.shape)
    request.set_tensor("y", output_tensor)
    request.infer([remote(context, array)])
    assert_close(host(output_tensor), expected)
