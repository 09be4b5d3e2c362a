"""Tensors between steps keep their memory between inferences, and give up what they took from a device."""

import numpy as np
import pytest
from hetero_template.compiled_model import TemplateCompiledModel
from hetero_template.infer_request import TemplateInferRequest

from hetero import Core, Model, Parameter, Type, ops
from hetero.graph.rt_info import AFFINITY
from hetero.ops.sequence.sequences import SequenceAt, SequenceConstruct, SequenceLength
from tests.devices import GPUS, PickyPlugin, core_with

SMALL, LARGE = [16], [256, 256]


class _InPlace(TemplateInferRequest):
    """A request that writes to the memory of its outputs, and notes the arrays of its tensors."""

    def start(self):
        inputs = [tensor.array for tensor in self.input_tensors()]
        results = self.compiled_model.run(map(np.ndarray.view, inputs), self)
        for tensor, array in zip(self.output_tensors(), results):
            tensor.copy_from(array)
        outputs = [tensor.array for tensor in self.output_tensors()]
        self.compiled_model.plugin.seen.append((inputs, outputs))


class _Model(TemplateCompiledModel):
    def create_sync_infer_request(self):
        return _InPlace(self)


class InPlace(PickyPlugin):
    def __init__(self):
        super().__init__()
        self.seen = []

    def compile(self, prepared):
        return _Model(prepared)


def chain(shape, *devices: str) -> Model:
    """Return a model that adds 1 on each of these devices."""
    parameter = Parameter(Type.f32, shape)
    value = parameter
    for device in devices:
        value = ops.Add(value, np.float32(1))
        value.rt_info[AFFINITY] = device
    return Model([value], [parameter], "chain")


def infer(request, shape, count: int) -> None:
    for number in range(count):
        x = np.full(shape, number, np.float32)
        np.testing.assert_array_equal(request.infer([x])[0], x + 4)


def boundaries(request) -> list:
    bound = request._request.request.bound
    return [bound._tensor_of[value] for value in bound.plan.boundaries.by_value]


@pytest.mark.parametrize(
    ("shape", "given"), [(SMALL, SMALL), (LARGE, LARGE), ([-1], SMALL)], ids=["small", "large", "dynamic"]
)
def test_devices_that_write_in_place_find_the_same_arrays(shape, given):
    b = InPlace()
    request = core_with(A=InPlace(), B=b).compile_model(chain(shape, *"ABAB"), "HETERO:A,B").create_infer_request()
    infer(request, given, 3)
    # B reads the first boundary, writes the second one and reads the third one in each inference.
    firsts, seconds, thirds = b.seen[::2], b.seen[::2], b.seen[1::2]
    for arrays in ([inputs for inputs, _ in firsts], [outputs for _, outputs in seconds], [i for i, _ in thirds]):
        assert len(arrays) == 3 and all(array is arrays[0][0] for (array,) in arrays)


def test_small_arrays_of_a_device_are_copied_to_the_memory_of_the_boundary():
    core = core_with(A=PickyPlugin(), B=PickyPlugin())
    request = core.compile_model(chain(SMALL, *"ABAB"), "HETERO:A,B").create_infer_request()
    infer(request, SMALL, 1)
    arrays = [tensor.array for tensor in boundaries(request)]
    infer(request, SMALL, 2)
    assert [id(tensor.array) for tensor in boundaries(request)] == [id(array) for array in arrays]


def test_large_arrays_of_a_device_are_not_copied_and_freed_after_their_last_reader():
    core = core_with(A=PickyPlugin(), B=PickyPlugin())
    request = core.compile_model(chain(LARGE, *"ABAB"), "HETERO:A,B").create_infer_request()
    infer(request, LARGE, 2)
    assert all(tensor.present is None and tensor._home is None for tensor in boundaries(request))


def test_large_memory_of_values_that_are_not_needed_at_once_is_one():
    core = core_with(A=InPlace(), B=InPlace())
    request = core.compile_model(chain(LARGE, *"ABAB"), "HETERO:A,B").create_infer_request()
    infer(request, LARGE, 1)
    first, second, third = (tensor.array for tensor in boundaries(request))
    assert np.shares_memory(first, third) and not np.shares_memory(first, second)


def test_an_array_of_shared_memory_stays_until_the_memory_grows():
    context = Core().get_default_context("GPU")
    tensor = context.create_host_tensor(Type.f32, [4])
    tensor.copy_from(np.float32([1, 2, 3, 4]))
    before = tensor.array
    assert tensor.array is before
    tensor.set_shape([8])
    assert tensor.array is not before and tensor.array.shape == (8,)
    tensor.take(np.arange(8, dtype=np.float32))
    np.testing.assert_array_equal(tensor.array, np.arange(8))


@pytest.mark.parametrize("devices", [("A", "B"), (GPUS[0], "A")])
@pytest.mark.parametrize("shape", [[1, 3], [256, 256]])
def test_memory_of_a_value_in_a_sequence_is_not_used_again(devices, shape):
    """The second device makes a sequence of the first one's value; the first one writes 'length' and reads the item."""
    x = Parameter(Type.f32, shape, name="x")
    value = ops.Abs(x, name="value")
    made = SequenceConstruct([value, value])
    made.friendly_name = "made"
    length = ops.Convert(SequenceLength(made), Type.f32, name="length")
    item = SequenceAt(made, np.int64(1))
    item.friendly_name = "item"
    model = Model([ops.Add(ops.Add(length, item, name="sum"), np.float32(0.5), name="end"), item], [x], "sequences")
    for node in model.get_ordered_ops():
        node.rt_info[AFFINITY] = devices[node.friendly_name in ("made", "sum", "end")]
    core = core_with(A=PickyPlugin(), B=PickyPlugin())
    request = core.compile_model(model, f"HETERO:{','.join(devices)}").create_infer_request()
    first, second = np.full(shape, -1, np.float32), np.full(shape, 7, np.float32)
    kept = request.infer([first], share_outputs=True).to_tuple()
    kept_items = kept[1].copy()
    found = request.infer([second]).to_tuple()
    np.testing.assert_array_equal(found[0], second + 2.5)
    np.testing.assert_array_equal(found[1], second)
    np.testing.assert_array_equal(kept_items, -first)
