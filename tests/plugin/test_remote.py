"""Remote contexts and remote tensors."""

import numpy as np
import pytest

import hetero
from hetero import Core, Model, Parameter, RemoteTensor, Tensor, Type, ops
from hetero.system.errors import NotSupportedError, PropertyError, TensorError
from tests.devices import PickyPlugin, core_with

CORE = Core()
X = np.float32([[1, -2, 3], [-4, 5, -6]])


@pytest.fixture(params=["TEMPLATE", "GPU"])
def device(request) -> str:
    return request.param


@pytest.fixture
def context(device) -> hetero.RemoteContext:
    return CORE.get_default_context(device)


def function(operation=ops.Relu, shape=(2, 3), kind=Type.f32) -> Model:
    x = Parameter(kind, hetero.PartialShape(shape), name="x")
    return Model(operation(x), [x], "function")


def remote(context, array) -> RemoteTensor:
    tensor = context.create_tensor(Type(array.dtype), array.shape)
    tensor.copy_from(array)
    return tensor


def host(tensor) -> np.ndarray:
    copy = Tensor(tensor.element_type, [0])
    tensor.copy_to(copy)
    return copy.array


def test_properties_of_a_remote_tensor(device, context):
    tensor = context.create_tensor(Type.f16, [2, 3])
    assert isinstance(tensor, Tensor) and tensor.context is context
    assert (tensor.element_type, tensor.shape, tensor.get_shape()) == (Type.f16, (2, 3), (2, 3))
    assert (tensor.size, tensor.byte_size, tensor.get_byte_size(), tensor.strides) == (6, 12, 12, (6, 2))
    assert tensor.is_continuous() and tensor.get_device_name() == context.get_device_name()
    assert context.get_device_name().split(".")[0] == device
    assert isinstance(tensor.get_params(), dict) and isinstance(context.get_params(), dict)
    assert repr(tensor) == f"<{type(tensor).__name__}: shape[2,3] type: f16>"
    helper = context.create_host_tensor(Type.i32, [4])
    assert helper.data.shape == (4,) and not isinstance(helper, RemoteTensor)


@pytest.mark.parametrize(
    "use", [lambda t: t.data, np.asarray, lambda t: t.__dlpack__(), np.from_dlpack, lambda t: Tensor(t, [0, 0], [1, 1])]
)
def test_the_host_cannot_access_it(context, use):
    with pytest.raises(TensorError, match=f"in the memory of {context.get_device_name()}: copy it to a host tensor"):
        use(context.create_tensor(Type.f32, [2, 3]))


@pytest.mark.parametrize("kind", [t for t in Type if t not in (Type.dynamic, Type.string)], ids=str)
def test_copies_of_every_type_in_both_directions(context, kind):
    array = np.arange(24, dtype=np.uint8).view(np.uint8)[: 24 // kind.size * kind.size] % 2
    array = array.view(kind.to_dtype()).reshape(-1)
    assert host(remote(context, array)).tobytes() == array.tobytes()


def test_copies_between_all_kinds(context):
    first, second = remote(context, X), context.create_tensor(Type.f32, [1])
    first.copy_to(second)
    np.testing.assert_array_equal(host(second), X)
    second.copy_from(Tensor(2 * X))
    first.copy_from(second)
    array = np.zeros_like(X)
    first.copy_to(array)
    np.testing.assert_array_equal(array, 2 * X)
    Tensor(3 * X).copy_to(second)
    taken = Tensor(Type.f32, [0])
    taken.copy_from(second)
    np.testing.assert_array_equal(taken.data, 3 * X)
    wide = np.zeros([2, 6], np.float32)
    second.copy_to(wide[:, ::2])
    np.testing.assert_array_equal(wide[:, ::2], 3 * X)
    second.copy_from(X.T)
    np.testing.assert_array_equal(host(second), X.T)


@pytest.mark.parametrize("other", [Tensor(np.zeros(3)), np.zeros(3), "remote"], ids=["tensor", "array", "remote"])
def test_copies_of_another_type_are_refused(context, other):
    tensor = context.create_tensor(Type.f32, [3])
    other = context.create_tensor(Type.f64, [3]) if isinstance(other, str) else other
    with pytest.raises(TensorError, match="a tensor of f32 cannot be filled with f64 elements"):
        tensor.copy_from(other)
    with pytest.raises(TensorError, match=r"tensor of f(32|64) cannot be"):
        tensor.copy_to(other)
    with pytest.raises(TensorError, match=r"\[3\] cannot be copied to an array of \[4\]"):
        tensor.copy_to(np.zeros(4, np.float32))


REGIONS = [
    ([1], [4]), ([1, 0], [3, 6]), ([0, 2], [3, 5]), ([1, 1, 1], [2, 4, 4]), ([0, 1, 0, 2], [2, 3, 3, 4]),
    ([1, 0, 1, 1, 1], [2, 2, 3, 3, 3]), ([0, 0], [0, 2]), ([], []),
]  # fmt: skip


@pytest.mark.parametrize("begin, end", REGIONS)
def test_regions(context, begin, end):
    whole = np.arange(6 ** len(begin), dtype=np.int32).reshape([6] * len(begin))
    part = tuple(slice(*pair) for pair in zip(begin, end))
    tensor = remote(context, whole)
    region = RemoteTensor(tensor, begin, end)
    expected = Tensor(Tensor(whole), begin, end)
    assert (region.shape, region.byte_size) == (expected.shape, expected.byte_size)
    assert region.is_continuous() == expected.is_continuous()
    np.testing.assert_array_equal(host(region), whole[part])
    region.copy_from(-whole[part])
    whole[part] *= -1
    np.testing.assert_array_equal(host(tensor), whole)
    other = remote(context, np.zeros_like(whole))
    RemoteTensor(other, begin, end).copy_from(region)
    np.testing.assert_array_equal(host(other), np.where(whole < 0, whole, 0))
    half = RemoteTensor(region, [0] * len(begin), [(n + 1) // 2 for n in region.shape])
    np.testing.assert_array_equal(host(half), whole[part][tuple(slice(0, n) for n in half.shape)])


def test_changes_of_the_shape(context):
    tensor = context.create_tensor(Type.f32, [2, 3])
    tensor.shape = [4, 5]
    tensor.copy_from(np.ones([4, 5], np.float32))
    tensor.set_shape([2, 2])
    assert (tensor.shape, tensor.strides) == ((2, 2), (8, 4))
    np.testing.assert_array_equal(host(tensor), np.ones([2, 2]))
    region = RemoteTensor(tensor, [0, 1], [2, 2])
    with pytest.raises(TensorError, match=r"a region of the shape \[2, 1\] cannot take the shape \[2, 2\]"):
        region.copy_from(np.ones([2, 2], np.float32))
    with pytest.raises(TensorError, match="there is no region"):
        RemoteTensor(tensor, [0, 1], [2, 3])
    with pytest.raises(TensorError, match="a remote tensor is made from another one, not from Tensor"):
        RemoteTensor(Tensor(Type.f32, [2]), [0], [1])


@pytest.mark.parametrize("kind", [Type.string, Type.dynamic])
def test_unsupported_types(context, kind):
    with pytest.raises(TensorError, match=f"a remote tensor cannot hold {kind} elements"):
        context.create_tensor(kind, [2])


def test_unknown_properties(device, context):
    with pytest.raises(PropertyError, match="NONE_SUCH"):
        context.create_tensor(Type.f32, [2], {"NONE_SUCH": 1})
    with pytest.raises(PropertyError, match="NONE_SUCH"):
        CORE.create_context(device, {"NONE_SUCH": 1})


def test_type_check(context):
    tensor = context.create_tensor(Type.f32, [2])
    RemoteTensor.type_check(tensor)
    for key, value in tensor.get_params().items():
        RemoteTensor.type_check(tensor, {key: value})
        RemoteTensor.type_check(tensor, {key: []})
        RemoteTensor.type_check(tensor, {key: ["NONE_SUCH", value]})
        with pytest.raises(TensorError, match=f"has {key} .*, but NONE_SUCH is wanted"):
            RemoteTensor.type_check(tensor, {key: "NONE_SUCH"})
    with pytest.raises(TensorError, match="the remote tensor has no parameter NONE_SUCH"):
        RemoteTensor.type_check(tensor, {"NONE_SUCH": []})
    with pytest.raises(TensorError, match="a remote tensor is wanted, but this Tensor is in host memory"):
        RemoteTensor.type_check(Tensor(Type.f32, [2]))


@pytest.mark.parametrize("as_input, as_output", [(True, True), (True, False), (False, True)])
def test_inputs_and_outputs(device, as_input, as_output):
    compiled = CORE.compile_model(function(), device)
    context = compiled.get_context()
    request = compiled.create_infer_request()
    source = remote(context, X) if as_input else Tensor(X.copy())
    target = context.create_tensor(Type.f32, [2, 3]) if as_output else Tensor(Type.f32, [2, 3])
    request.set_input_tensor(source)
    request.set_output_tensor(target)
    for x in (X, -X):
        source.copy_from(x)
        result = request.infer()[0]
        assert result is target if as_output else isinstance(result, np.ndarray)
        np.testing.assert_array_equal(host(target), np.maximum(x, 0))
    request.start_async()
    request.wait()
    assert request.get_input_tensor() is source and request.get_output_tensor() is target
    np.testing.assert_array_equal(request.infer([X])[0] if not as_output else host(request.infer([X])[0]), X * (X > 0))


def test_regions_as_inputs_and_outputs(device):
    compiled = CORE.compile_model(function(), device)
    context, request = compiled.get_context(), compiled.create_infer_request()
    whole = np.arange(35, dtype=np.float32).reshape(5, 7) - 17
    source, target = remote(context, whole), remote(context, whole)
    for begin, end in (([1, 2], [3, 5]), ([3, 0], [5, 3])):
        request.set_input_tensor(RemoteTensor(source, begin, end))
        request.set_output_tensor(RemoteTensor(target, [0, 1], [2, 4]))
        request.infer()
        expected = whole.copy()
        expected[0:2, 1:4] = np.maximum(whole[begin[0] : end[0], begin[1] : end[1]], 0)
        np.testing.assert_array_equal(host(target), expected)
    np.testing.assert_array_equal(host(source), whole)


def test_dynamic_shapes(device):
    compiled = CORE.compile_model(function(shape=(-1, 3)), device)
    context, request = compiled.get_context(), compiled.create_infer_request()
    taken = context.create_tensor(Type.f32, [0, 3])
    request.set_output_tensor(taken)
    for rows in (2, 5, 0, 3):
        x = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3) - 4
        request.infer([remote(context, x)])
        np.testing.assert_array_equal(host(taken), np.maximum(x, 0))


@pytest.mark.parametrize("operation", [ops.Relu, lambda x: ops.Reshape(x, np.int64([3, 2]), False), ops.Result])
def test_an_output_in_the_memory_of_an_input(device, operation):
    x = Parameter(Type.f32, [2, 3], name="x")
    compiled = CORE.compile_model(Model([operation(x)], [x]), device)
    tensor = remote(compiled.get_context(), X)
    request = compiled.create_infer_request()
    request.set_input_tensor(tensor)
    request.set_output_tensor(RemoteTensor(tensor.memory, Type.f32, compiled.output().shape))
    expected = CORE.compile_model(Model([operation(x)], [x]), "TEMPLATE")(X)[0]
    request.infer()
    np.testing.assert_array_equal(host(request.get_output_tensor()), expected)


def test_an_output_over_an_input_that_is_read_again(device):
    """The memory of x is overwritten by y only after z has been computed."""
    x = Parameter(Type.f32, [2, 3], name="x")
    y = ops.Softmax(x, 1)
    z = ops.Add(ops.Softmax(y, 1), x)
    compiled = CORE.compile_model(Model([y, z], [x]), device)
    expected = CORE.compile_model(Model([y, z], [x]), "TEMPLATE")(X).to_tuple()
    context, request = compiled.get_context(), compiled.create_infer_request()
    tensor, other = remote(context, X), context.create_tensor(Type.f32, [2, 3])
    request.set_tensors({compiled.input(): tensor, compiled.output(0): tensor, compiled.output(1): other})
    request.infer()
    for found, wanted in zip((tensor, other), expected):
        np.testing.assert_allclose(host(found), wanted, rtol=1e-5)


def test_two_outputs_in_one_tensor(device):
    """The later output wins, and is not computed from data that it overwrites."""
    x = Parameter(Type.f32, [37, 37], name="x")
    y = ops.Softmax(x, 1)
    compiled = CORE.compile_model(Model([y, ops.Transpose(y, np.int64([1, 0]))], [x]), device)
    given = np.random.default_rng(0).standard_normal([37, 37]).astype(np.float32)
    expected = CORE.compile_model(Model([y], [x]), "TEMPLATE")(given)[0].T
    tensor, request = compiled.get_context().create_tensor(Type.f32, [37, 37]), compiled.create_infer_request()
    for index in range(2):
        request.set_output_tensor(index, tensor)
    request.infer([given])
    np.testing.assert_allclose(host(tensor), expected, rtol=1e-5)


def test_one_value_as_several_outputs_and_a_constant_output(device):
    x = Parameter(Type.f32, [2, 3], name="x")
    y = ops.Relu(x)
    constant = hetero.Constant(np.float32([7, 8]))
    compiled = CORE.compile_model(Model([y, y, x, constant, y], [x]), device)
    context, request = compiled.get_context(), compiled.create_infer_request()
    tensors = [context.create_tensor(Type.f32, [2, 3]) for _ in range(3)] + [context.create_tensor(Type.f32, [2])]
    request.set_input_tensor(remote(context, X))
    for index, tensor in enumerate(tensors):
        request.set_output_tensor(index, tensor)
    last = request.infer()[4]
    relu = np.maximum(X, 0)
    for found, wanted in zip([*map(host, tensors), last], [relu, relu, X, np.float32([7, 8]), relu]):
        np.testing.assert_array_equal(found, wanted)


def test_contents_that_decide_shapes(device):
    x, n = Parameter(Type.f32, [6], name="x"), Parameter(Type.i64, [2], name="n")
    compiled = CORE.compile_model(Model([ops.Reshape(x, n, False)], [x, n]), device)
    context, request = compiled.get_context(), compiled.create_infer_request()
    for shape in ([2, 3], [6, 1]):
        result = request.infer([remote(context, X.reshape(-1)), remote(context, np.int64(shape))])[0]
        np.testing.assert_array_equal(result, X.reshape(shape))


def test_batches(device):
    compiled = CORE.compile_model(function(shape=(-1, 3)), device)
    request = compiled.create_infer_request()
    request.set_input_tensors([remote(compiled.get_context(), X), Tensor(-X)])
    np.testing.assert_array_equal(request.infer()[0], np.maximum(np.concatenate([X, -X]), 0))


def test_a_model_compiled_for_a_context(device):
    context = CORE.create_context(device)
    compiled = CORE.compile_model(function(), context, {"PERF_COUNT": True})
    assert compiled.get_context() == context and compiled.get_property("PERF_COUNT") is True
    request = compiled.create_infer_request()
    taken = context.create_tensor(Type.f32, [2, 3])
    request.set_output_tensor(taken)
    request.infer([remote(context, X)])
    np.testing.assert_array_equal(host(taken), np.maximum(X, 0))
    assert request.get_profiling_info()


def test_imported_and_cached_models_use_the_context(device, tmp_path):
    context, model = CORE.create_context(device), function()
    tensor = remote(context, X)
    exported = CORE.compile_model(model, device).export_model()
    found = [CORE.import_model(exported, context)]
    found += [CORE.compile_model(model, context, {"CACHE_DIR": str(tmp_path)}) for _ in range(2)]
    assert [compiled.get_property("LOADED_FROM_CACHE") for compiled in found[1:]] == [False, True]
    for compiled in found:
        np.testing.assert_array_equal(compiled([tensor])[0], np.maximum(X, 0))


def test_the_default_context_is_one(device):
    context = CORE.get_default_context(device)
    assert context == CORE.get_default_context(device) == CORE.compile_model(function(), device).get_context()
    assert CORE.create_context(device) != context


def test_wrong_tensors_leave_the_request_usable(device, context):
    request = CORE.compile_model(function(), device).create_infer_request()
    foreign = CORE.create_context(device).create_tensor(Type.f32, [2, 3])
    strange = core_with(OTHER=PickyPlugin()).get_default_context("OTHER").create_tensor(Type.f32, [2, 3])
    for tensor, problem in (
        (foreign, f"'x' is given a remote tensor of {foreign.get_device_name()} in another context than the model's"),
        (strange, "'x' is given a remote tensor of OTHER in another context than the model's on"),
        (context.create_tensor(Type.f16, [2, 3]), "'x' takes f32 elements, but the tensor has f16"),
        (context.create_tensor(Type.f32, [3, 2]), r"'x' takes the shape \[2,3\], but the tensor has \[3, 2\]"),
    ):
        with pytest.raises(TensorError, match=problem):
            request.set_input_tensor(tensor)
        with pytest.raises(TensorError, match=problem):
            request.infer([tensor])
        with pytest.raises(TensorError):
            request.set_output_tensor(tensor)
        np.testing.assert_array_equal(request.infer([X])[0], np.maximum(X, 0))


def test_a_device_without_contexts():
    class Plain(PickyPlugin):
        create_context = hetero.plugin.Plugin.create_context
        get_default_context = hetero.plugin.Plugin.get_default_context

    core = core_with(PLAIN=Plain())
    compiled = core.compile_model(function(), "PLAIN")
    for ask in (core.create_context, core.get_default_context, lambda name: compiled.get_context()):
        with pytest.raises(NotSupportedError, match="PLAIN has no remote contexts: use tensors in host memory"):
            ask("PLAIN")
    request = compiled.create_infer_request()
    tensor = CORE.get_default_context("TEMPLATE").create_tensor(Type.f32, [2, 3])
    with pytest.raises(TensorError, match="remote tensor of TEMPLATE, but PLAIN has no remote contexts"):
        request.set_input_tensor(tensor)
    np.testing.assert_array_equal(request.infer([X])[0], np.maximum(X, 0))
