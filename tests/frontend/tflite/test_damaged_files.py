"""Damaged or malicious TensorFlow Lite files: refused with a clear message, quickly and in little memory."""

import contextlib
import functools

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import Builder

from hetero.frontend.tflite import TfliteFrontEnd
from hetero.system.errors import FrontendError
from tests import peak_memory
from tests.frontend.tflite.graphs import Graph, Op, Signature, constant, feed, out, variable
from tests.frontend.tflite.writer import packed, write


def scalars(kind, dtype=np.float32, result=None, **options):
    """A graph of one operator on two scalars."""
    inputs = [feed((), dtype), feed((), dtype)]
    return Graph([Op(kind, inputs, [out(result or dtype, ())], **options)], inputs, name=f"{kind} of scalars")


def of_vectors(kind, dtype=np.float32, result=None):
    """A graph of one operator on a vector of four and a constant."""
    x = feed((4,), dtype)
    return Graph([Op(kind, [x, constant(np.ones(4, dtype))], [out(result or dtype, (4,))])], [x], name=kind)


def below():
    x = feed((4,))
    total = out(np.float32, ())
    steps = [Op("SUM", [x, constant(np.int32([0]))], [total]), Op("LESS", [total, constant(9.0)], [out(bool, ())])]
    return Graph(steps, [x], [steps[1].outputs[0]], name="below")


# Smaller models are read faster, so the operators are shared out among some.
PARTS = range(4)


@functools.cache
def sample(part: int, parts: int = len(PARTS)) -> bytes:
    """Return a model with operators of many kinds; each part has some of them."""
    ints = functools.partial(constant, dtype=np.int32)
    x, vector, q = feed((1, 8, 8, 2), name="x"), feed((4,), name="vector"), feed((1, 4), scale=0.1, name="q")
    f32 = np.float32
    places = out(np.int32, (4,))
    q_weights = constant(np.ones((3, 4), np.int8), scale=[0.5, 1, 2], axis=0)
    words, two = constant(np.array(["a", "longer"], object)), dict(stride_w=2, stride_h=2, padding="SAME")
    steps = [
        Op("CONV_2D", [x, constant(np.ones((4, 3, 3, 2), f32)), None], [out(f32, (1, 4, 4, 4), name="c")], **two),
        Op("RESHAPE", [vector, ints([2, 2])], [out(f32, (2, 2), name="r")], new_shape=[2, 2]),
        Op("MAX_POOL_2D", [x], [out(f32, (1, 4, 4, 2))], filter_width=2, filter_height=2, **two),
        Op("STRIDED_SLICE", [x, ints([0, 1, 0, 0]), ints([1, 7, 8, 1]), ints([1, 2, 1, 1])],
           [out(f32, (1, 3, 8))], begin_mask=2, shrink_axis_mask=8),
        Op("GATHER", [x, ints([1, 0])], [out(f32, (1, 8, 8, 2))], axis=3),
        Op("PAD", [x, ints([[0, 0], [1, 1], [0, 2], [0, 0]])], [out(f32, (1, 10, 10, 2))]),
        Op("CONCATENATION", [vector, vector], [out(f32, (8,))], axis=0),
        Op("FILL", [ints([2, 3]), constant(1.0)], [out(f32, (2, 3))]),
        Op("RANGE", [ints(0), ints(4), ints(1)], [places]),
        Op("TILE", [vector, ints([3])], [out(f32, (12,))]),
        Op("BROADCAST_TO", [vector, ints([3, 4])], [out(f32, (3, 4))]),
        Op("ONE_HOT", [places, ints(5), constant(1.0), constant(0.0)], [out(f32, (4, 5))], axis=-1),
        Op("TOPK_V2", [vector, ints(2)], [out(f32, (2,)), out(np.int32, (2,))]),
        Op("SPLIT", [ints(0), vector], [out(f32, (2,)), out(f32, (2,))], num_splits=2),
        Op("RESIZE_BILINEAR", [x, ints([3, 5])], [out(f32, (1, 3, 5, 2))], half_pixel_centers=True),
        Op("FULLY_CONNECTED", [q, q_weights, None], [out(np.int8, (1, 3), scale=0.2)]),
        Op("SUM", [x, ints([1, 2])], [out(f32, (1, 2))]),
        Op("IF", [constant(np.array(True)), vector], [out(f32, (4,))],
           then_subgraph_index=of_vectors("ADD"), else_subgraph_index=of_vectors("SUB")),
        Op("WHILE", [vector], [out(f32, (4,))], cond_subgraph_index=below(), body_subgraph_index=of_vectors("ADD")),
        Op("CALL", [vector], [out(f32, (4,))], subgraph=of_vectors("MUL")),
        Op("STABLEHLO_COMPOSITE", [vector], [out(f32, (4,))], name="mine",
           decomposition_subgraph_index=of_vectors("DIV"), composite_attributes=[1, 2, 3]),
        Op("STABLEHLO_REDUCE", [vector, constant(0.0)], [out(f32, ())], dimensions=[0],
           body_subgraph_index=scalars("STABLEHLO_ADD")),
        Op("STABLEHLO_REDUCE_WINDOW", [vector, constant(0.0)], [out(f32, (3,))], window_dimensions=[2],
           body_subgraph_index=scalars("STABLEHLO_MAXIMUM")),
        Op("STABLEHLO_SORT", [vector], [out(f32, (4,))], dimension=0, is_stable=True,
           comparator_subgraph_index=scalars("STABLEHLO_COMPARE", result=bool, comparison_direction=5)),
        Op("STABLEHLO_GATHER", [x, ints([[1, 2]])], [out(f32, (1, 3, 3, 2))], offset_dims=[1, 2, 3],
           collapsed_slice_dims=[0], start_index_map=[1, 2], index_vector_dim=1, slice_sizes=[1, 3, 3, 2]),
        Op("STABLEHLO_SCATTER", [vector, ints([[1], [2]]), constant([1.0, 2.0])], [out(f32, (4,))],
           inserted_window_dims=[0], scatter_dims_to_operand_dims=[0], index_vector_dim=1,
           update_computation_subgraph_index=scalars("STABLEHLO_ADD")),
        Op("STABLEHLO_PAD", [vector, constant(0.0)], [out(f32, (9,))],
           edge_padding_low=[1], edge_padding_high=[1], interior_padding=[1]),
        Op("STABLEHLO_DOT_GENERAL", [vector, vector], [out(f32, ())],
           lhs_contracting_dimensions=[0], rhs_contracting_dimensions=[0]),
        Op("STABLEHLO_IOTA", [], [out(f32, (3, 4))], iota_dimension=1),
        Op("STABLEHLO_DYNAMIC_SLICE", [vector, feed((), np.int32, name="start")], [out(f32, (2,))], slice_sizes=[2]),
        Op("STABLEHLO_RNG_BIT_GENERATOR", [constant(np.array([1, 2], np.uint64))],
           [out(np.uint64, (2,)), out(np.uint32, (3,))], algorithm="PHILOX"),
        Op("GATHER", [words, ints([1])], [out(object, (1,))], axis=0),
        Op("VAR_HANDLE", [], [out("RESOURCE", (), name="handle")], shared_name="v"),
        Op("RNN", [feed((1, 4), name="step"), constant(np.ones((3, 4), f32)), constant(np.ones((3, 3), f32)),
           constant(np.ones(3, f32)), variable((1, 3))], [out(f32, (1, 3))], fused_activation_function="TANH"),
    ]  # fmt: skip
    steps = steps[part::parts]
    (first, *_), (result, *_) = steps[0].inputs, steps[0].outputs
    return write(Graph(steps), [Signature("serving", {"image": first}, {"result": result})])


@pytest.mark.parametrize("part", PARTS)
def test_the_sample_is_read(part):
    assert len(TfliteFrontEnd().convert(sample(part)).outputs) >= 8


def refused(content: bytes, message: str) -> None:
    with pytest.raises(FrontendError, match=message):
        TfliteFrontEnd().convert(content)


@pytest.mark.parametrize("part", PARTS)
def test_truncated(part):
    content = sample(part)
    for length in range(1, len(content) - 1, 61):
        refused(content[:length], "the TensorFlow Lite model")


def unpacked(graph: Graph) -> schema.ModelT:
    return schema.ModelT.InitFromPackedBuf(write(graph))


def nested(kind: str, deep: int, **options: str) -> schema.ModelT:
    """Return a model whose graph calls a graph twice, which calls a graph twice, and so on."""
    x = feed((4,))
    graph = of_vectors("ADD")
    for _ in range(deep):
        steps = [Op(kind, [x], [out(np.float32, (4,))], **dict.fromkeys(options, graph))]
        steps.append(Op(kind, steps[0].outputs, [out(np.float32, (4,))], **dict.fromkeys(options, graph)))
        x = feed((4,))
        steps[0].inputs = [x]
        graph = Graph(steps, [x], name=f"twice {kind}")
    return unpacked(graph)


GRAPHS = {"CALL": {"subgraph": ""}, "STABLEHLO_COMPOSITE": {"decomposition_subgraph_index": ""}}


@pytest.mark.parametrize("kind", GRAPHS)
def test_a_graph_that_runs_itself(kind):
    model = nested(kind, 1, **GRAPHS[kind])
    for operator in model.subgraphs[0].operators:
        for options in (operator.builtinOptions, operator.builtinOptions2):
            for name in vars(options) if options else ():
                if name.lower().endswith(("subgraph", "index")):
                    setattr(options, name, 0)
    refused(packed(model), "calls itself")


@pytest.mark.parametrize("kind", GRAPHS)
def test_graphs_that_run_each_other_again_and_again(kind):
    refused(packed(nested(kind, 30, **GRAPHS[kind])), "its graphs call each other so often that they expand to over")


def one_constant(array: np.ndarray) -> schema.ModelT:
    x = feed((4,))
    return unpacked(Graph([Op("ADD", [x, constant(array)], [out(array.dtype, (4,))])]))


@pytest.mark.parametrize("shape", [[5], [3], [1 << 30, 1 << 30, 1 << 30], [-4, -1], [-1]])
def test_a_shape_of_more_or_less_than_there_is(shape):
    model = one_constant(np.ones(4, np.float32))
    model.subgraphs[0].tensors[2].shape = shape
    refused(packed(model), "tensor_2")


@pytest.mark.parametrize(
    "words",
    [
        [1000, 0], [-1, 0], [-5, 0], [2, 16, 0, 24], [2, 16, 20, 1000], [2, -4, 16, 20], [1 << 30, 16, 16],
    ],
)  # fmt: skip
def test_strings_that_are_not_there(words):
    model = one_constant(np.array(["a", "b"], object))
    model.buffers[-1].data = np.array([*words, 0], np.int32).view(np.uint8)
    model.subgraphs[0].tensors[2].shape = [2]
    refused(packed(model), "tensor 'tensor_2' cannot be read|it is truncated or damaged")


def test_many_strings_beside_a_long_one():
    model = one_constant(np.array(["a" * 100_000, *[""] * 10_000], object))
    refused(packed(model), "10001 strings of up to 100000 characters take 4,000,400,000 bytes")


def recurrent(batch: int, state: tuple[int, int]) -> bytes:
    """Return a model of an operator with a state of this shape and data of this batch size."""
    ones = [constant(np.ones(shape, np.float32)) for shape in ((3, 4), (3, 3), 3)]
    return write(Graph([Op("RNN", [feed((batch, 4)), *ones, variable(state)], [out(np.float32, (batch, 3))])]))


def test_a_state_that_changes_its_shape():
    refused(recurrent(2, (1, 3)), r"the TensorFlow Lite model: .*\[2,3\]")


def test_a_state_of_any_size():
    """Reading the model does not allocate the state of 4 GiB."""
    peak_memory.start()
    before = peak_memory.read()
    with contextlib.suppress(FrontendError):
        TfliteFrontEnd().convert(recurrent(1, (1 << 15, 1 << 15)))
    assert peak_memory.read() - before < 1 << 30


@pytest.mark.parametrize("kind", ["STRIDED_SLICE", "SLICE", "BROADCAST_ARGS"])
def test_numbers_for_many_dimensions(kind):
    x, places = feed((2, 3)), [feed((1 << 30,), np.int32) for _ in range(3)]
    inputs = {"STRIDED_SLICE": [x, *places], "SLICE": [x, *places[:2]]}.get(kind, places[:2])
    refused(
        write(Graph([Op(kind, inputs, [out(np.float32, (2, 3))])])),
        r"\[1073741824\] must be for 64 dimensions at most",
    )


def test_scales_along_an_axis_that_is_not_there():
    x = feed((2, 3), scale=[0.5, 0.25], axis=1 << 24)
    model = write(Graph([Op("DEQUANTIZE", [x], [out(np.float32, (2, 3))])]))
    refused(model, "has scales along axis 16777216, but 2 dimensions")


@pytest.mark.parametrize("scale", [float("nan"), float("inf"), [0.5, float("-inf")]])
def test_scales_that_are_no_numbers(scale):
    model = write(Graph([Op("DEQUANTIZE", [feed((2, 3), scale=scale)], [out(np.float32, (2, 3))])]))
    refused(model, "has scales that are not finite")


def test_options_that_stand_for_ever_more():
    """A FlexBuffer in which each list contains the next one twice, 30 deep."""
    content = bytearray([1, 0, 4])
    last = 1
    for _ in range(30):
        content.append(2)
        start = len(content)
        content += bytes([start - last, start + 1 - last, 40, 40])
        last = start
    content += b"a\x00\x01"
    keys = len(content)
    content += bytes([3])
    content += bytes([len(content) - keys, 1, 1])
    values = len(content)
    content += bytes([values - last, 40])
    content += bytes([len(content) - values, 36, 1])
    model = write(Graph([Op("Mine", [feed((4,))], [out(np.float32, (4,))], raw=bytes(content))]))
    refused(model, "there is no translation of the custom Mine")


def test_parts_that_are_shared_by_many():
    """Each of many tensors has the same long shape."""
    builder = Builder(1024)
    count = 10_000
    schema.TensorStartShapeVector(builder, count)
    for _ in range(count):
        builder.PrependInt32(1)
    shape = builder.EndVector()
    tensors = []
    for _ in range(count):
        schema.TensorStart(builder)
        schema.TensorAddShape(builder, shape)
        tensors.append(schema.TensorEnd(builder))
    schema.SubGraphStartTensorsVector(builder, count)
    for tensor in tensors:
        builder.PrependUOffsetTRelative(tensor)
    tensors = builder.EndVector()
    schema.SubGraphStart(builder)
    schema.SubGraphAddTensors(builder, tensors)
    graph = schema.SubGraphEnd(builder)
    schema.ModelStartSubgraphsVector(builder, 1)
    builder.PrependUOffsetTRelative(graph)
    graphs = builder.EndVector()
    schema.BufferStart(builder)
    buffer = schema.BufferEnd(builder)
    schema.ModelStartBuffersVector(builder, 1)
    builder.PrependUOffsetTRelative(buffer)
    buffers = builder.EndVector()
    schema.ModelStart(builder)
    schema.ModelAddBuffers(builder, buffers)
    schema.ModelAddSubgraphs(builder, graphs)
    builder.Finish(schema.ModelEnd(builder), b"TFL3")
    refused(bytes(builder.Output()), "its parts add up to more than 4 times its size")
