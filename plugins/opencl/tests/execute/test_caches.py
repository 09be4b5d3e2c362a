"""Caches that are inputs and outputs: appended to in place if one tensor is both, with TEMPLATE's contents always."""

import numpy as np
import pyopencl as cl
import pytest
from hetero_opencl.compile.variable_ports import find_caches

import hetero
from hetero import Model, Parameter, Tensor, Type, ops
from hetero.plugin import RemoteTensor
from hetero.system.errors import DeviceError
from tests.benchmarks.llama_models import Llama

CORE = hetero.Core()
SIZES = {"words": 300, "width": 64, "layers": 2, "heads": 4, "hidden": 96}
CACHES = [f"{part}.{layer}" for layer in range(2) for part in ("key", "value")]


class Decoder:
    """A decoder on a device, and on TEMPLATE, which is given its caches anew each time."""

    def __init__(self, device: str, is_remote: bool = False) -> None:
        compiled, reference = (
            CORE.compile_model(Llama(**SIZES, has_past=True).model(), d) for d in (device, "TEMPLATE")
        )
        self.request, self._reference = compiled.create_infer_request(), reference.create_infer_request()
        create = compiled.get_context().create_tensor if is_remote else Tensor
        self.tensors = {name: create(Type.f32, [1, 4, 0, 16]) for name in CACHES}
        self.bind()
        self._draw, self.caches = np.random.default_rng(0), self.contents()

    def bind(self) -> None:
        for name, tensor in self.tensors.items():
            self.request.set_tensor(f"past.{name}", tensor)
            self.request.set_tensor(f"present.{name}", tensor)

    def contents(self) -> dict[str, np.ndarray]:
        found = {}
        for name, tensor in self.tensors.items():
            found[name] = np.empty(tensor.shape, np.float32)
            tensor.copy_to(found[name])
        return found

    def step(self, words: int = 1) -> None:
        """Write words, and compare the logits and the caches."""
        place = self.caches["key.0"].shape[2]
        feeds = {
            "input_ids": self._draw.integers(0, 300, (1, words)),
            "position_ids": np.arange(place, place + words)[None],
        }
        logits = np.array(self.request.infer(feeds, share_outputs=True)[0])
        wanted = self._reference.infer({**feeds, **{f"past.{name}": array for name, array in self.caches.items()}})
        np.testing.assert_allclose(logits, wanted[0], atol=5e-5)
        self.caches = {name: wanted[f"present.{name}"] for name in CACHES}
        for name, array in self.contents().items():
            np.testing.assert_allclose(array, self.caches[name], atol=5e-5)


@pytest.fixture(params=["host", "remote"])
def decoder(device, request):
    return Decoder(device, request.param == "remote")


def memory_of(request):
    """Return the memory of the caches, empty if they are copied."""
    return [cache._state.current.memory for cache in request._caches] if request._appends else []


def test_words_are_appended_in_place(device, decoder, plugin_request):
    decoder.step(20)
    request = plugin_request(decoder.request)
    is_remote = isinstance(decoder.tensors["key.0"], RemoteTensor)
    assert request._appends == (is_remote or request._context.device.shares_host_memory)
    memory = memory_of(request)
    buffers = [each.buffer for each in memory]
    for _ in range(19):
        decoder.step()
    assert memory_of(request) == memory
    assert [each.buffer for each in memory] == buffers  # there was room for 40 words
    decoder.step(3)
    assert all(each.buffer is not before for each, before in zip(memory, buffers))


def test_contents_of_the_user(decoder):
    """Tensors may be changed between inferences, become shorter, or be others."""
    decoder.step(9)
    decoder.step()
    for name, tensor in decoder.tensors.items():
        if not isinstance(tensor, RemoteTensor):
            tensor.data[:, :, 3] = 0
            decoder.caches[name][:, :, 3] = 0
    decoder.step()
    for name, tensor in decoder.tensors.items():
        decoder.caches[name] = np.ascontiguousarray(decoder.caches[name][:, :, :7])
        tensor.copy_from(Tensor(decoder.caches[name]))
    decoder.step()
    decoder.tensors = {name: Tensor(array.copy()) for name, array in decoder.caches.items()}
    decoder.bind()
    decoder.step(2)
    decoder.step()
    for name, tensor in decoder.tensors.items():
        tensor.set_shape([1, 4, 0, 16])
        decoder.caches[name] = decoder.caches[name][:, :, :0]
    decoder.step(4)


def test_a_tensor_may_be_an_input_of_others(device, decoder):
    """Of another request, and of the same one while its output goes to other memory."""
    decoder.step(5)
    decoder.step()
    other = Decoder(device)
    other.tensors = (
        decoder.tensors
        if not isinstance(decoder.tensors["key.0"], RemoteTensor)
        else {name: Tensor(array) for name, array in decoder.contents().items()}
    )
    other.bind()
    other.caches = decoder.contents()
    other.step()
    decoder.tensors = other.tensors
    decoder.bind()
    decoder.caches = other.caches
    decoder.step()
    before = decoder.contents()
    for name in CACHES:
        decoder.request.set_tensor(f"present.{name}", Tensor(Type.f32, [1, 4, 0, 16]))
    feeds = {"input_ids": np.array([[1]]), "position_ids": np.array([[8]])}
    results = decoder.request.infer(feeds)
    for name, array in decoder.contents().items():
        np.testing.assert_array_equal(array, before[name])
        np.testing.assert_allclose(results[f"present.{name}"][:, :, :-1], array, atol=5e-5)


def test_a_buffer_of_the_user_is_written(device):
    """It is copied, as it cannot grow, but has to have the contents."""
    past, x = Parameter(Type.f32, [-1, 4], name="past"), Parameter(Type.f32, [-1, 4], name="x")
    compiled = CORE.compile_model(Model([ops.Concat([past, x], 0)], [past, x]), device)
    context, request = compiled.get_context(), compiled.create_infer_request()
    buffer = cl.Buffer(context.get_params()["OCL_CONTEXT"], cl.mem_flags.READ_WRITE, 4096)
    tensor = context.create_tensor(Type.f32, [0, 4], {"MEM_HANDLE": buffer})
    request.set_input_tensor(0, tensor)
    request.set_output_tensor(0, tensor)
    for rows in range(1, 4):
        request.infer({"x": np.full((1, 4), rows, np.float32)})
        found = np.empty((rows, 4), np.float32)
        cl.enqueue_copy(context.get_params()["OCL_QUEUE"], found, buffer)
        np.testing.assert_array_equal(found, np.repeat(np.arange(1, rows + 1), 4).reshape(rows, 4))


def test_memory_that_ends(decoder, limit_growth, plugin_request):
    decoder.step(8)
    if not plugin_request(decoder.request)._appends:
        pytest.skip("the host does not see the device's memory, so that its tensors are copied")
    limit_growth(17 * 64 * 4)
    feeds = {"input_ids": np.zeros((1, 20), np.int64), "position_ids": np.arange(20)[None]}
    with pytest.raises(
        DeviceError, match="'past.key.0' cannot grow to the length 28, which takes 7168 bytes: allocating"
    ):
        decoder.request.infer(feeds)
    decoder.step()


def concatenation(axis: int, order: str) -> Model:
    shape = [2, 3, 4]
    shape[axis] = -1
    cache, x = (Parameter(Type.f32, shape, name=name) for name in ("cache", "x"))
    parts = {"old first": [cache, x], "new first": [x, cache], "twice": [cache, x, x], "old twice": [cache, cache, x]}
    grown = ops.Concat(parts[order], axis)
    return Model([ops.ReduceSum(grown, np.array([axis]), False), grown], [x, cache])


@pytest.mark.parametrize("order", ["old first", "new first", "twice", "old twice"])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_axes_and_orders(device, axis, order):
    model = concatenation(axis, order)
    found = {"old first": [1], "new first": [0], "twice": [1], "old twice": []}  # the indices of inputs
    assert [cache.input for cache in find_caches(model)] == found[order]
    reference = CORE.compile_model(model, "TEMPLATE")
    request = CORE.compile_model(model, device).create_infer_request()
    shape = [2, 3, 4]
    shape[axis] = 0
    tensor, draw = Tensor(Type.f32, shape), np.random.default_rng(0)
    request.set_input_tensor(1, tensor)
    request.set_output_tensor(1, tensor)
    for length in (2, 1, 3, 0, 1):
        shape[axis] = length
        array = draw.standard_normal(shape, np.float32)
        wanted = reference([array, np.array(tensor.data)])
        found = request.infer({"x": array}, share_outputs=True)
        for index in range(2):
            np.testing.assert_allclose(found[index], wanted[index], atol=1e-5)


def continued(*others, shape=(-1, 4), is_twice=False):
    """Return the caches of a model that continues its first input, of which other operations want something too."""
    cache, x = Parameter(Type.f32, shape, name="cache"), Parameter(Type.f32, [-1, 4], name="x")
    results = [ops.Concat([cache, x], 0) for _ in range(1 + is_twice)]
    return find_caches(Model([*results, *(other(cache) for other in others)], [cache, x]))


def test_what_is_a_cache():
    assert len(continued()) == 1
    assert len(continued(ops.ShapeOf)) == 1
    assert not continued(ops.Exp)
    assert not continued(is_twice=True)
    assert not continued(shape=(2, 4))
