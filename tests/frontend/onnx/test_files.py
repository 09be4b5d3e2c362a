"""Sources of ONNX models, weights without copies, and messages about invalid files."""

import io
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, TypeProto, ValueInfoProto, helper, numpy_helper

from hetero.frontend.onnx import OnnxFrontEnd
from hetero.frontend.onnx.wire import MIN_DETACHED_SIZE, detach_tensors
from hetero.graph import is_constant
from hetero.system.errors import FrontendError
from tests import zoo
from tests.frontend.onnx.compare import make_model, run_reference

DATA = np.arange(12, dtype=np.float32).reshape(3, 4)
SPARSE = TypeProto(sparse_tensor_type=TypeProto.SparseTensor(elem_type=TensorProto.FLOAT))
# Large enough to be taken out of the file before it is parsed.
WEIGHTS = np.random.default_rng(0).standard_normal((4, 500)).astype(np.float32)


def matmul_model(**keywords):
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="product")
    return make_model([node], {"x": DATA}, initializers={"w": WEIGHTS}, **keywords)


def constant_of(model, name):
    return next(node.data for node in model.get_ordered_ops() if is_constant(node) and name in node.output(0).names)


def sources(tmp_path):
    content = matmul_model().SerializeToString()
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    return {
        "path": path, "str": str(path), "bytes": content, "file": io.BytesIO(content), "proto": matmul_model(),
        "bytearray": bytearray(content),
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["path", "str", "bytes", "bytearray", "file", "proto"])
def test_every_kind_of_source(tmp_path, kind):
    source = sources(tmp_path)[kind]
    assert OnnxFrontEnd().supported(source)
    model = OnnxFrontEnd().convert(source)
    np.testing.assert_allclose(run_reference(model, {"x": DATA})["y"], DATA @ WEIGHTS, rtol=1e-5)


def test_weights_of_bytes_are_used_in_place():
    content = matmul_model().SerializeToString()
    weights = constant_of(OnnxFrontEnd().convert(content), "w")
    assert np.shares_memory(weights, np.frombuffer(content, np.uint8))
    assert not weights.flags.writeable
    np.testing.assert_array_equal(weights, WEIGHTS)


def test_weights_of_a_constant_node_are_used_in_place():
    value = numpy_helper.from_array(WEIGHTS)
    nodes = [helper.make_node("Constant", [], ["w"], value=value), helper.make_node("MatMul", ["x", "w"], ["y"])]
    content = make_model(nodes, {"x": DATA}).SerializeToString()
    assert len(detach_tensors(memoryview(content))) < 1000
    assert np.shares_memory(constant_of(OnnxFrontEnd().convert(content), "w"), np.frombuffer(content, np.uint8))


def test_grouped_filters_are_a_view():
    filters = np.random.default_rng(0).standard_normal((64, 1, 3, 3)).astype(np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"], group=64)
    content = make_model([node], {"x": np.zeros((1, 64, 8, 8), np.float32)}, initializers={"w": filters})
    content = content.SerializeToString()
    convolution = OnnxFrontEnd().convert(content).output("y").node.input_value(0).node
    grouped = convolution.input_value(1).node.data
    assert grouped.shape == (64, 1, 1, 3, 3)
    assert np.shares_memory(grouped, np.frombuffer(content, np.uint8))


def test_reading_a_large_file_allocates_little():
    path = zoo.path("resnet50")
    assert path.stat().st_size > 100e6
    OnnxFrontEnd().convert(matmul_model())  # what is imported and cached on first use does not count
    tracemalloc.start()
    try:
        model = OnnxFrontEnd().convert(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sum(node.byte_size for node in model.get_ordered_ops() if is_constant(node)) > 100e6
    assert peak < 5e6


def test_mapped_weights_outlive_the_file(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(matmul_model().SerializeToString())
    model = OnnxFrontEnd().convert(path)
    path.unlink()
    np.testing.assert_array_equal(constant_of(model, "w"), WEIGHTS)


@pytest.mark.parametrize("name", zoo.ONNX)
def test_detached_file_is_the_same_model(name):
    content = zoo.path(name).read_bytes()
    detached = onnx.ModelProto.FromString(detach_tensors(memoryview(content)))
    whole = onnx.ModelProto.FromString(content)
    references = 0
    for tensor in _tensors(detached.graph):
        if tensor.data_location == TensorProto.EXTERNAL:
            entries = {entry.key: int(entry.value) for entry in tensor.external_data}
            tensor.raw_data = content[entries["offset"] : entries["offset"] + entries["length"]]
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")
            references += 1
    large = [t for t in _tensors(whole.graph) if len(t.raw_data) >= MIN_DETACHED_SIZE]
    assert references == len(large)
    assert detached == whole


def _tensors(graph):
    """Yield all tensors of a graph and its subgraphs."""
    attributes = [attribute for node in graph.node for attribute in node.attribute]
    inner = [tensor for a in attributes if a.type == onnx.AttributeProto.GRAPH for tensor in _tensors(a.g)]
    return [*graph.initializer, *(a.t for a in attributes if a.type == onnx.AttributeProto.TENSOR), *inner]


def external_model(tmp_path, location="weights.bin", offset=16, length=WEIGHTS.nbytes):
    model = matmul_model()
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entries = {"location": location, "offset": offset, "length": length}
    tensor.external_data.extend(onnx.StringStringEntryProto(key=k, value=str(v)) for k, v in entries.items())
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    (folder / "weights.bin").write_bytes(b"\0" * 16 + WEIGHTS.tobytes())
    return path


def test_external_data(tmp_path):
    weights = constant_of(OnnxFrontEnd().convert(external_model(tmp_path)), "w")
    np.testing.assert_array_equal(weights, WEIGHTS)
    assert not weights.flags.owndata


EXTERNAL_ERRORS = [
    ({"location": "../secret.bin"}, "outside of the model's folder"),
    ({"location": "{tmp}/secret.bin"}, "outside of the model's folder"),
    ({"location": "link.bin"}, "outside of the model's folder"),
    ({"location": "absent.bin"}, "absent.bin: No such file"),
    ({"offset": 17}, f"holds {WEIGHTS.nbytes - 1} bytes, but f32\\[4, 500\\] needs {WEIGHTS.nbytes}"),
    ({"offset": 10**12}, "holds 0 bytes"),
    ({"offset": -1}, "impossible offset -1"),
    ({"offset": "x"}, "'w' cannot be read"),
    ({"length": 5}, "holds 5 bytes"),
]


@pytest.mark.parametrize(("changes", "message"), EXTERNAL_ERRORS)
def test_bad_external_data(tmp_path, changes, message):
    (tmp_path / "secret.bin").write_bytes(b"\0" * 16 + WEIGHTS.tobytes())
    changes = {key: str(value).replace("{tmp}", str(tmp_path)) for key, value in changes.items()}
    path = external_model(tmp_path, **changes)
    (path.parent / "link.bin").symlink_to(tmp_path / "secret.bin")
    with pytest.raises(FrontendError, match=message):
        OnnxFrontEnd().convert(path)


def test_external_data_needs_a_path(tmp_path):
    with pytest.raises(FrontendError, match="found only if the model is given by its path"):
        OnnxFrontEnd().convert(external_model(tmp_path).read_bytes())


def edited(edit):
    model = matmul_model()
    edit(model.graph)
    return model


def add_nodes(*nodes):
    """Add nodes, with their outputs as outputs of the model: other nodes are not translated."""

    def edit(graph):
        graph.node.extend(helper.make_node(*node) for node in nodes)
        graph.output.extend(ValueInfoProto(name=name) for _, _, outputs, *_ in nodes for name in outputs if name != "y")

    return edited(edit)


def set_tensor(**fields):
    def edit(graph):
        for name, value in fields.items():
            if isinstance(value, list):
                del getattr(graph.initializer[0], name)[:]
                getattr(graph.initializer[0], name).extend(value)
            else:
                setattr(graph.initializer[0], name, value)

    return edited(edit)


CONTENT_ERRORS = {
    "reads nothing": (
        add_nodes(("Relu", ["nothing"], ["z"], "r")),
        "Relu node 'r': it reads 'nothing', which no operator before it computes",
    ),
    "no output": (
        edited(lambda graph: graph.output.add(name="absent")),
        "the output of the graph reads 'absent', which no operator before it computes",
    ),
    "made twice": (add_nodes(("Relu", ["x"], ["y"], "r")), "the value 'y' is defined twice"),
    "made by a node and an initializer": (
        edited(lambda graph: graph.node.insert(0, helper.make_node("Relu", ["x"], ["w"], "r"))),
        "'w' is an initializer and also an output of Relu node 'r'",
    ),
    "two initializers": (
        edited(lambda graph: graph.initializer.append(graph.initializer[0])),
        "two initializers have the name 'w'",
    ),
    "unknown operators": (
        add_nodes(("Foo", ["x"], ["a"], "f1"), ("Foo", ["x"], ["b"], "f2"), ("Bar", ["x"], ["c"], "b1", "", "org.me")),
        r"no translation of ai.onnx.Foo of version 13 \(2 nodes, the first is 'f1'\), org.me.Bar",
    ),
    "many unknown": (
        add_nodes(*[("Foo", ["x"], [f"v{i}"], f"f{i}") for i in range(6)]),
        r"\(6 nodes, the first is 'f0'\)",
    ),
    "attribute missing": (
        add_nodes(("Concat", ["x"], ["z"], "c")),
        "Concat node 'c': attribute axis is missing",
    ),
    "input missing": (add_nodes(("Unsqueeze", ["x"], ["z"], "u")), "Unsqueeze node 'u': input 1 is missing"),
    "shapes do not fit": (add_nodes(("Add", ["x", "w"], ["z"], "a")), "Add node 'a': .*do not broadcast"),
    "too little data": (
        set_tensor(raw_data=b"\0" * 8),
        r"tensor 'w' cannot be read: it holds 8 bytes, but f32\[4, 500\] needs 8000",
    ),
    "negative dimension": (set_tensor(dims=[-4, 500]), "negative dimension"),
    "huge": (set_tensor(dims=[2**40, 2**40]), "needs"),
    "unknown type": (set_tensor(data_type=99), "the element type number 99 is not supported"),
    "small type": (set_tensor(data_type=TensorProto.INT4), r"it holds 8000 bytes, but i4\[4, 500\] needs 1000"),
    "sparse input": (
        edited(lambda graph: graph.input.append(ValueInfoProto(name="s", type=SPARSE))),
        "input 's': a value of sparse_tensor_type is not supported",
    ),
}


@pytest.mark.parametrize("as_bytes", [True, False], ids=["bytes", "proto"])
@pytest.mark.parametrize("name", CONTENT_ERRORS)
def test_bad_content(name, as_bytes):
    model, message = CONTENT_ERRORS[name]
    with pytest.raises(FrontendError, match=message) as caught:
        OnnxFrontEnd().convert(model.SerializeToString() if as_bytes else model)
    assert str(caught.value).startswith("the ONNX model: ")
    assert "\n" not in str(caught.value)


def test_message_names_the_file(tmp_path):
    path = tmp_path / "bad.onnx"
    path.write_bytes(CONTENT_ERRORS["made twice"][0].SerializeToString())
    with pytest.raises(FrontendError, match=f"^{path}: Relu node 'r': the value 'y'"):
        OnnxFrontEnd().convert(path)


NOT_ONNX = [
    b"",
    b"PK\3\4 an archive",
    b"<?xml version='1.0'?>",
    b"\x08\x01\x12\x05hello",
    bytes(range(256)),
    b"\xff" * 64,
]


@pytest.mark.parametrize("content", NOT_ONNX)
def test_not_onnx(tmp_path, content):
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    assert not OnnxFrontEnd().supported(path)
    assert not OnnxFrontEnd().supported(content)
    with pytest.raises(FrontendError, match="is not an ONNX model"):
        OnnxFrontEnd().convert(path)


def test_missing_files(tmp_path):
    assert not OnnxFrontEnd().supported(tmp_path / "absent.onnx")
    with pytest.raises(FrontendError, match=r"absent.onnx cannot be read: No such file"):
        OnnxFrontEnd().convert(tmp_path / "absent.onnx")
    assert not OnnxFrontEnd().supported(tmp_path)
    with pytest.raises(FrontendError, match="Is a directory"):
        OnnxFrontEnd().convert(tmp_path)
    with pytest.raises(FrontendError, match="int cannot hold the ONNX model"):
        OnnxFrontEnd().convert(3)
    with pytest.raises(FrontendError, match="binary mode"):
        OnnxFrontEnd().convert(io.StringIO("text"))


def test_supported_keeps_the_position_of_an_open_file():
    file = io.BytesIO(b"begin" + matmul_model().SerializeToString())
    file.seek(5)
    assert OnnxFrontEnd().supported(file)
    assert file.tell() == 5


@pytest.mark.parametrize("left", [30, 100, 1000, 5000, -1])
def test_truncated_file(tmp_path, left):
    path = tmp_path / "model.onnx"
    path.write_bytes(matmul_model().SerializeToString()[:left])
    assert OnnxFrontEnd().supported(path)
    with pytest.raises(FrontendError, match="model.onnx is truncated or damaged"):
        OnnxFrontEnd().convert(path)


def test_any_damage_is_reported():
    content = matmul_model().SerializeToString()
    generator = np.random.default_rng(0)
    failures = 0
    for place in generator.integers(0, 200, 300):
        damaged = bytearray(content)
        damaged[place] = generator.integers(0, 256)
        try:
            OnnxFrontEnd().convert(bytes(damaged))
        except FrontendError:
            failures += 1
    assert failures > 50


def test_deeply_nested_graphs():
    content = b""
    for _ in range(3000):
        # A graph with a node with an attribute that holds the graph before, padded with an unused name.
        attribute = _field(6, content) + _field(1, b"x" * 1200)
        content = _field(1, _field(5, attribute))
    with pytest.raises(FrontendError, match="deep"):
        OnnxFrontEnd().convert(_field(7, content))


def _field(number, payload):
    length, prefix = len(payload), bytearray()
    while length > 0x7F:
        prefix.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes([number << 3 | 2]) + bytes(prefix) + bytes([length]) + payload


@pytest.mark.slow
def test_onnx_is_imported_only_when_needed():
    code = "import sys, hetero, hetero.frontend; print('onnx' in sys.modules)"
    root = Path(__file__).parents[3]
    assert subprocess.check_output([sys.executable, "-c", code], text=True, cwd=root).strip() == "False"
