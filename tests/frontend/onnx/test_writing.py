"""Written ONNX models: names, types, refusals, and the results of ONNX Runtime for backend cases and the zoo."""

import itertools
import re

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import hetero
from hetero import Model, Op, Parameter, Type, ops
from hetero.conformance import onnx_cases
from hetero.conformance.operations import OPERATIONS
from hetero.conformance.samples import assert_close
from hetero.frontend.onnx import writer
from hetero.frontend.onnx.node_writer import find_emitter
from hetero.frontend.onnx.writer import model_proto, save_onnx
from hetero.graph import Constant, Result
from hetero.ops.opsets import extension_classes, operation_classes
from hetero.passes.upgrade_opset import UPGRADED
from hetero.system.errors import FrontendError, GraphError
from tests import zoo
from tests.devices import MEDIAPIPE_OPERATORS
from tests.frontend.onnx.backend import cases
from tests.ops.through_onnx import run_written
from tests.tiers import IS_FULL, in_sample

CORE = hetero.Core()
CORE.add_extension(MEDIAPIPE_OPERATORS)


# Why operations are not written.
NOT_WRITTEN = {
    "ONNX has no state": ["Assign", "AssignV3", "ReadValue", "ReadValueV3"],
    "ONNX has no operation on such strings": [
        "FormatNumber", "LshProjection", "RegexReplace", "SkipGram", "StringFormat", "StringHashBucket",
        "StringTensorPack", "StringTensorUnpack",
    ],
    "ONNX does not define the numbers": ["Multinomial", "RandomUniform"],
    "the sizes of the results depend on data": [
        "CTCGreedyDecoder", "CTCGreedyDecoderSeqLen", "DetectionOutput", "DetectionOutputV1",
        "ExperimentalDetectronDetectionOutput", "ExperimentalDetectronGenerateProposalsSingleImage",
        "GenerateProposals", "MatrixNms", "MulticlassNms", "MulticlassNmsV8", "NMSRotated", "NonMaxSuppressionV1",
        "NonMaxSuppressionV3", "NonMaxSuppressionV4", "NonMaxSuppressionV5", "Proposal", "ProposalV1",
        "SparseFillEmptyRows",
    ],
    "only by a long decomposition or a loop": [
        "BinaryConvolution", "CTCLoss", "CacheUpdate", "DeformableConvolutionV1", "DeformablePSROIPooling",
        "EmbeddingBagOffsets", "EmbeddingBagOffsetsSum", "EmbeddingSegmentsSum", "ErfInv",
        "ExperimentalDetectronPriorGridGenerator", "ExperimentalDetectronROIFeatureExtractor",
        "ExperimentalDetectronTopKROIs", "ExtractImagePatches", "FakeConvert", "GatherTree", "GroupedMatMul",
        "I420toBGR", "I420toRGB", "ISTFT", "Inverse", "NV12toBGR", "NV12toRGB", "PSROIPooling", "PairwiseCoupling",
        "PriorBox",
        "PriorBoxClustered", "PriorBoxV1", "ROIAlignRotated", "ROIAlignV3", "RegionYolo", "ReorgYolo", "SegmentMax",
    ],
}  # fmt: skip


class Unheard(Op):
    """A user-defined operation."""

    input_names = ("x",)

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


def named(node, *names):
    for output, name in zip(node.outputs(), names):
        output.names = {name}
    return node


def small_model():
    x = named(Parameter(Type.f32, [-1, 3], name="input"), "x")
    y = named(Parameter(Type.f32, [1, 3], name="other"), "y")
    total = named(ops.Add(x, y, name="sum"), "z")
    return Model([ops.Relu(total, name="relu"), total], [x, y], "small")


def test_names_types_and_dimensions():
    model = small_model()
    model.results[0].output(0).names = {"r"}
    proto = model_proto(model)
    onnx.checker.check_model(proto, full_check=True)
    assert proto.graph.name == "small" and [port.name for port in proto.graph.input] == ["x", "y"]
    assert [(node.name, node.op_type, list(node.output)) for node in proto.graph.node] == [
        ("sum", "Add", ["z"]),
        ("relu", "Relu", ["r"]),
    ]
    (rows, columns), (result_rows, _) = (
        port.type.tensor_type.shape.dim for port in (proto.graph.input[0], proto.graph.output[0])
    )
    assert rows.dim_param == result_rows.dim_param == "x_0" and columns.dim_value == 3
    assert [port.name for port in proto.graph.output] == ["r", "z"]
    read = CORE.read_model(proto)
    assert [node.friendly_name for node in read.get_ops() if node.type_info.name in ("Add", "Relu")] == ["sum", "relu"]


def test_inputs_and_constants_as_outputs():
    """An output has a name of its own, even if it is also an input, a constant or another output."""
    x, one = Parameter(Type.i32, [2], name="x"), Constant(np.int32([1, 2]), name="one")
    model = Model([Result(value, name=name) for value, name in ((x, "a"), (one, "b"), (one, "c"))], [x], "m")
    found = run_written(model_proto(model), [np.int32([5, 6])])
    assert [array.tolist() for array in found] == [[5, 6], [1, 2], [1, 2]]


@pytest.mark.parametrize(
    "kind", ["f16", "bf16", "f32", "f64", "i4", "u4", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "boolean"]
)
def test_constants(kind):
    array = np.arange(-3 if kind[0] in "fbi" and kind != "boolean" else 0, 6).astype(Type(kind).to_dtype())
    proto = model_proto(Model([Constant(array, name="c")], []))
    (initializer,) = proto.graph.initializer
    assert initializer.name == "c" and initializer.HasField("raw_data")
    np.testing.assert_array_equal(numpy_helper.to_array(initializer).astype(np.float64), array.astype(np.float64))


def test_strings():
    proto = model_proto(Model([Constant(np.array(["a", "ü"]))], []))
    assert numpy_helper.to_array(proto.graph.initializer[0]).astype(str).tolist() == ["a", "ü"]


def test_refusals_are_listed_at_once(tmp_path):
    x = Parameter(Type.f32, [1, 4, 4, 4], name="x")
    value = Unheard(ops.ReorgYolo(Unheard(x, name="first"), [2]), name="second")
    model = Model([ops.Convert(value, "nf4", name="codes")], [x], "m")
    (tmp_path / "m.onnx").write_text("before")
    message = (
        r"^ONNX has no equivalent of Unheard \(nodes first, second\); ReorgYolo \(node ReorgYolo_\d+\); "
        r"Convert with element type nf4 \(node codes\); Result with element type nf4 \(node \S+\)$"
    )
    with pytest.raises(FrontendError, match=message):
        save_onnx(model, tmp_path / "m.onnx")
    assert [file.read_text() for file in tmp_path.iterdir()] == ["before"]


def test_refusals_in_bodies_are_listed():
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch("Relu"), else_branch=branch("Exp"))
    boolean = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    port = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    graph = helper.make_graph([node], "g", [boolean], [port])
    model = CORE.read_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]))
    (choice,) = [node for node in model.get_ops() if isinstance(node, ops.If)]
    body = choice.get_then_body()
    body.results[0].input(0).replace_source_output(Unheard(body.results[0].input_value(0), name="inner").output(0))
    with pytest.raises(FrontendError, match=r"Unheard \(node inner\)$"):
        model_proto(model)


def branch(op_type):
    value = helper.make_tensor("w", TensorProto.FLOAT, [2], [1, 2])
    output = helper.make_tensor_value_info(f"{op_type}_y", TensorProto.FLOAT, [2])
    return helper.make_graph([helper.make_node(op_type, ["w"], [output.name])], op_type, [], [output], [value])


@pytest.mark.parametrize("rows", [6, -1])
@pytest.mark.parametrize("slices", [(0, 1, 1, -1), (-1, -1, 1, 0), (0, 2, 2, -1), (-1, -2, 2, 0)])
def test_slices_of_an_iterator(rows, slices):
    """The sum of the parts so far, of each iteration and twice of the last one."""
    _, stride, part, _ = slices
    x, item = Parameter(Type.f32, [rows, 3], name="x"), Parameter(Type.f32, [part, 3])
    state = Parameter(Type.f32, [part, 3])
    total = Result(ops.Add(state, item))
    loop = ops.TensorIterator()
    loop.set_body(Model([total], [item, state], "body"))
    loop.set_sliced_input(item, x, *slices, 0)
    loop.set_merged_input(state, Constant(np.zeros((part, 3), np.float32)), total)
    results = [loop.get_iter_value(total), loop.get_concatenated_slices(total, *slices, 0)]
    model = Model([*results, loop.get_iter_value(total)], [x], "m")
    array = np.arange(18, dtype=np.float32).reshape(6, 3)
    parts = array.reshape(-1, part, 3)[::-1] if stride < 0 else array.reshape(-1, part, 3)
    sums = np.cumsum(parts, 0)
    expected = [sums[-1], (sums[::-1] if stride < 0 else sums).reshape(6, 3), sums[-1]]
    if rows < 0 and part > 1:
        with pytest.raises(FrontendError, match="TensorIterator with an unknown number of iterations"):
            model_proto(model)
        return
    for found, wanted in zip(run_written(model_proto(model), [array]), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_files_that_cannot_be_written(tmp_path):
    with pytest.raises(FrontendError, match="the model cannot be written to .*m.onnx: No such file"):
        save_onnx(small_model(), tmp_path / "no" / "m.onnx")
    assert not list(tmp_path.iterdir())


def test_compression(tmp_path):
    x = Parameter(Type.f32, [2, 64], name="x")
    weights = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
    model = Model([ops.MatMul(x, Constant(weights), False, False)], [x], "m")
    save_onnx(model, tmp_path / "m.onnx", compress_to_fp16=True)
    proto = onnx.load(tmp_path / "m.onnx")
    assert [tensor.data_type for tensor in proto.graph.initializer] == [TensorProto.FLOAT16]
    array = np.ones((2, 64), np.float32)
    np.testing.assert_allclose(run_written(proto, [array])[0], array @ weights.astype(np.float16), rtol=1e-3)


@pytest.mark.parametrize("channels", [8, 300])
@pytest.mark.parametrize("groups", [1, 2])
def test_integer_convolution(channels, groups):
    """Convolutions of quantized numbers are computed in f32, if need be in two parts, without any rounding."""
    generator = np.random.default_rng(0)
    x = Parameter(Type.i8, [1, groups * channels, 5, 5], name="x")
    data = ops.Subtract(ops.Convert(x, "i32"), Constant(np.int32(-128)))
    weights = generator.integers(-128, 128, (groups, 4, channels, 3, 3)).astype(np.int8)
    filters = ops.Convert(Constant(weights if groups > 1 else weights[0]), "i32")
    operation = ops.GroupConvolution if groups > 1 else ops.Convolution
    node = operation(data, filters, [1, 1], [0, 0], [0, 0], [1, 1])
    array = generator.integers(-128, 128, (1, groups * channels, 5, 5)).astype(np.int8)
    (found,) = run_written(model_proto(Model([node], [x], "m")), [array])
    windows = np.lib.stride_tricks.sliding_window_view(array.astype(np.int64) + 128, (3, 3), (2, 3))
    parts = windows.reshape(1, groups, channels, 3, 3, 3, 3)
    expected = np.einsum("ngchwij,gocij->ngohw", parts, weights.astype(np.int64)).reshape(1, -1, 3, 3)
    assert found.dtype == np.int32 and np.array_equal(found, expected)


def test_integer_convolutions_with_too_large_sums_are_refused():
    x = Parameter(Type.i32, [1, 8, 5, 5], name="x")
    node = ops.Convolution(x, Constant(np.ones((4, 8, 3, 3), np.int32)), [1, 1], [0, 0], [0, 0], [1, 1])
    with pytest.raises(FrontendError, match="Convolution with element type i32 and sums that f32 does not represent"):
        model_proto(Model([node], [x], "m"))


# ONNX pools no i64, shifts no signed integers, has no Roll, and scatters no extrema without the element.
NOT_IN_ONNX = [("MaxPool", Type.i64), ("BitwiseLeftShift", Type.i64), ("BitwiseRightShift", Type.i64)]
NEVER_IN_ONNX = ("Roll", "ScatterElementsUpdate of the largest update")


def operation_cases():
    for operation, kind in itertools.product(OPERATIONS, (Type.f32, Type.i64, Type.boolean)):
        if (
            kind in operation.kinds
            and (operation.name, kind) not in NOT_IN_ONNX
            and operation.name not in NEVER_IN_ONNX
        ):
            yield pytest.param(operation, kind, id=f"{operation.name}-{kind}")


@pytest.mark.parametrize(("operation", "kind"), list(operation_cases()))
def test_operation(operation, kind):
    """The results of the conformance kit's formulas, for static and dynamic shapes."""
    for dynamic in (False, True):
        try:
            model = operation.model(kind, dynamic)
        except GraphError:
            return
        arrays = operation.arrays(kind)
        for found, wanted in zip(run_written(model_proto(model), arrays), operation.expected(arrays), strict=True):
            assert_close(found, wanted)


def test_every_operation_is_written_or_listed():
    classes = [
        cls for cls in (*operation_classes(), *extension_classes().values()) if cls.__module__.startswith("hetero.ops.")
    ]
    unwritten = {cls.__name__ for cls in classes if find_emitter(cls) is None and cls not in UPGRADED}
    listed = [name for names in NOT_WRITTEN.values() for name in names]
    assert sorted(unwritten) == sorted(listed)


@pytest.mark.parametrize("kind", [ops.ScaledDotProductAttention, ops.SoftmaxAttention])
def test_attention_without_keys(kind):
    """A query whose keys are all masked: NaN by the softmax, 0 by ScaledDotProductAttention's definition."""
    generator = np.random.default_rng(0)
    query, key, value = (generator.standard_normal((1, 2, 4, 8)).astype(np.float32) for _ in range(3))
    mask = np.zeros((1, 1, 4, 4), np.float32)
    mask[..., 1, :] = mask[..., 2, :2] = -np.inf
    arrays = [query, key, value, mask]
    inputs = [Parameter(Type.f32, array.shape) for array in arrays]
    (found,) = run_written(model_proto(Model(kind(*inputs), inputs)), arrays)
    weights = np.exp(query @ key.swapaxes(2, 3) / np.sqrt(np.float32(8)) + mask)
    sums = weights.sum(-1, keepdims=True)
    sums[sums == 0] = 1 if kind is ops.ScaledDotProductAttention else np.nan
    np.testing.assert_allclose(found, weights / sums @ value, rtol=1e-4, atol=1e-5)


class WrittenModel:
    """A written model that is called like a CompiledModel. ``refusals``: see ``run_written``."""

    def __init__(self, proto, *refusals):
        self.proto, self.refusals = proto, refusals
        self.outputs = [port.name for port in proto.graph.output]

    def __call__(self, inputs):
        return dict(zip(self.outputs, run_written(self.proto, inputs, *self.refusals)))


NOT_WRITTEN_CASES = {
    "bernoulli|training_dropout": "RandomUniform",
    "bitshift_(left|right)_int": "Bitwise(Left|Right)Shift with signed integers",
    "dft(_axis|_inverse|_rfft|_irfft)?$": "R?I?R?DFT with axes that is not constant",
    "stft$": "STFT with frame_size that is not constant",
}
NOT_READ = "gradient_of_add"
# ONNX Runtime rounds transforms more, and aligns corners by scales otherwise than the cases expect.
OTHERWISE_IN_ONNX_RUNTIME = "test_s?t?dft|test_stft_with_window|resize_downsample_scales_(linear|cubic)_align_corners"
# It needs locales of the system, or takes no missing optional values.
REFUSED_BY_ONNX_RUNTIME = "test_strnorm|loop16_seq_none|optional_has_element_empty"


def backend_cases():
    names = [name for name in cases() if not re.search(f"{NOT_READ}|{OTHERWISE_IN_ONNX_RUNTIME}", name)]
    return [name for name in names if in_sample(name, 20)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", backend_cases())
def test_backend_case(name):
    model = onnx_cases.read_case(CORE, cases()[name])
    reason = next(
        (reason for pattern, reason in NOT_WRITTEN_CASES.items() if re.search(f"^test_({pattern})", name)), None
    )
    if reason:
        with pytest.raises(FrontendError, match=f"ONNX has no equivalent of {reason}"):
            model_proto(model)
    else:
        refusals = [(Exception,)] if re.search(REFUSED_BY_ONNX_RUNTIME, name) else []
        onnx_cases.check_case(WrittenModel(model_proto(model), *refusals), cases()[name], steps=2)


WITH_VARIABLES = ("alexa", "hey_jarvis", "hey_mycroft", "okay_nabu")
ZOO = [name for name in zoo.MODELS if name not in WITH_VARIABLES]


@pytest.mark.parametrize(
    "name", ZOO if IS_FULL else ["squeezenet", "voice_activity", "magika", "face_detection_sparse"]
)
def test_zoo_model(name):
    """The results of ONNX Runtime for the ONNX models, and of LiteRT for the others."""
    shape = zoo.MODELS[name].shapes[-1]
    model = CORE.read_model(zoo.path(name))
    expected, inputs = zoo.expected(name, 0, shape), zoo.inputs(name, 0, shape)
    arrays = [next(inputs[key] for key in port.names if key in inputs) for port in model.inputs]
    session = onnxruntime.InferenceSession(model_proto(model).SerializeToString())
    results = session.run(None, {port.name: array for port, array in zip(session.get_inputs(), arrays)})
    for port, found in zip(model.outputs, results, strict=True):
        wanted = next(expected[key] for key in port.names if key in expected)
        assert found.shape == wanted.shape
        assert np.abs(found - wanted.astype(np.float64)).max() <= zoo.MAX_ERRORS.get(name, 1e-4) * np.abs(wanted).max()


@pytest.mark.parametrize("name", WITH_VARIABLES)
def test_models_with_variables_are_refused(name):
    with pytest.raises(FrontendError, match=r"ONNX has no equivalent of .*ReadValue \(nodes .*Assign \(nodes"):
        model_proto(CORE.read_model(zoo.path(name)))


def test_too_many_constants_for_one_file(monkeypatch, tmp_path):
    """A smaller limit stands for protobuf's, which the test machine's memory may not hold."""
    monkeypatch.setattr(writer, "_MAX_BYTES", 100)
    model = Model([Constant(np.zeros(26, np.float32))], [])
    with pytest.raises(FrontendError, match="its constants take 0.0 GB, but an ONNX file holds only 2 GB"):
        save_onnx(model, tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())
