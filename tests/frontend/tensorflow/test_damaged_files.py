"""Damaged models: each gives a FrontendError that says what is wrong and names the file."""

import random
import shutil

import pytest

from hetero import Core
from hetero.frontend.tensorflow.decoding.checkpoint import Checkpoint
from hetero.system.errors import FrontendError
from tests.frontend.tensorflow.test_cases import CASES, MODELS
from tests.frontend.tensorflow.test_compressed_index import table

CORE = Core()


def node(name, op, *inputs, **attributes):
    """Return a node in text format; attributes are texts in the same format."""
    lines = "".join(f' attr {{ key: "{key}" value {{ {value} }} }}' for key, value in attributes.items())
    reads = "".join(f' input: "{one}"' for one in inputs)
    return f'node {{ name: "{name}" op: "{op}"{reads}{lines} }}\n'


def constant(name, tensor):
    return node(name, "Const", dtype="type: DT_FLOAT", value=f"tensor {{ {tensor} }}")


def integer(name, number):
    return node(
        name,
        "Const",
        dtype="type: DT_INT32",
        value=f"tensor {{ dtype: DT_INT32 tensor_shape {{ }} int_val: {number} }}",
    )


X = node("x", "Placeholder", dtype="type: DT_FLOAT", shape="shape { dim { size: 2 } }")
LARGE = "dtype: DT_FLOAT tensor_shape { dim { size: 1000000000000 } }"
CALLING = 'func { name: "f" }'
RECURSIVE = (
    'library { function { signature { name: "f" input_arg { name: "a" type: DT_FLOAT }'
    ' output_arg { name: "r" type: DT_FLOAT } }'
    ' node_def { name: "call" op: "PartitionedCall" input: "a" attr { key: "f" value { func { name: "f" } } }'
    ' attr { key: "Tout" value { list { type: DT_FLOAT } } } }'
    ' ret { key: "r" value: "call:output:0" } } }'
)
DAMAGED = {
    "a cycle": (X + node("a", "Add", "x", "b") + node("b", "Relu", "a") + node("c", "Relu", "b"), "its own output"),
    "a missing node": (X + node("a", "Add", "x", "y"), "reads 'y', which is not in the graph"),
    "a missing output": (X + node("a", "Relu", "x:3"), "reads 'x:3'"),
    "two nodes of a name": (X + X + node("a", "Relu", "x"), "several nodes have the name 'x'"),
    "no name": (X + node("", "Relu", "x"), "a node has no name"),
    "unknown operators": (
        X + node("a", "My", "x") + node("b", "Your", "a") + node("c", "My", "b"),
        r"no translation of My \(2 nodes, the first is 'a'\), Your \('b'\)",
    ),
    "a missing function": (X + node("a", "PartitionedCall", "x", f=CALLING), "no function 'f'"),
    "a function that calls itself": (X + node("a", "PartitionedCall", "x", f=CALLING) + RECURSIVE, "calls itself"),
    "a missing attribute": (X + node("a", "Conv2D", "x", "x"), "Conv2D node 'a'"),
    "a large constant": (X + constant("a", LARGE) + node("b", "Add", "x", "a"), "larger than"),
    "a negative dimension": (
        X + constant("a", "dtype: DT_FLOAT tensor_shape { dim { size: -5 } }") + node("b", "Add", "x", "a"), r"-5",
    ),
    "contents of another size": (
        X + constant("a", 'dtype: DT_FLOAT tensor_content: "abc"') + node("b", "Add", "x", "a"), "has 3 bytes",
    ),
    "a loop that is not complete": (
        X + node("a", "Enter", "x", frame_name='s: "f"') + node("m", "Merge", "a", "a") + node("r", "Relu", "m"),
        "no next value",
    ),
    "a Merge without a Switch": (X + node("m", "Merge", "x", "x"), "predicate cannot be found"),
    "large matrices of diagonals": (
        X + "".join(integer(name, number) for name, number in (("k", 1), ("rows", 100_000), ("columns", 100_000)))
        + constant("other", "dtype: DT_FLOAT tensor_shape { }")
        + node("a", "MatrixDiagV3", "x", "k", "rows", "columns", "other"),
        "matrices of 100000 x 100000",
    ),
    "axes of a product": (
        X + node("a", "XlaDotV2", "x", "x", dimension_numbers=r's: "\n\001\007\022\001\007"'),
        r"lhs_contracting_dimensions \[7\] must be different axes",
    ),
    "too few numbers": (
        node("x", "Placeholder", dtype="type: DT_UINT8", shape="shape { dim { size: 3 } }")
        + node("a", "Bitcast", "x", type="type: DT_FLOAT"), r"the last dimension of \[3\] must be 4",
    ),
    "a table with unknown keys": (
        X + node("t", "MutableDenseHashTableV2", "x", "x", key_dtype="type: DT_INT64", value_dtype="type: DT_INT64")
        + node("a", "LookupTableSizeV2", "t") + node("b", "Identity", "a"), "empty_key or deleted_key must be known",
    ),
    "an unfinished text": (X + "node {", "text is not valid"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_graph(text, message, tmp_path):
    path = tmp_path / "graph.pbtxt"
    path.write_text(text)
    with pytest.raises(FrontendError, match=message) as error:
        CORE.read_model(path)
    assert str(path) in str(error.value)


def copy_of(name, tmp_path):
    shutil.copytree(CASES / name, tmp_path / name)
    return tmp_path / name


def changed(path, change):
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)


def test_missing_variables(tmp_path):
    folder = copy_of("keras", tmp_path)
    (folder / "variables" / "variables.data-00000-of-00001").unlink()
    with pytest.raises(FrontendError, match=r"keras.*variables.data-00000-of-00001 cannot be read"):
        CORE.read_model(folder)
    shutil.rmtree(folder / "variables")
    with pytest.raises(FrontendError, match="variable '.*' is read, but has no initial value"):
        CORE.read_model(folder)


FILES = {
    "data": ("keras", "variables/variables.data-00000-of-00001"),
    "index": ("keras", "variables/variables.index"),
    "asset": ("vocabulary", "assets/words.txt"),
}


@pytest.mark.parametrize(("name", "file"), FILES.values(), ids=FILES)
def test_a_link_to_a_file_outside_the_folder(name, file, tmp_path):
    folder = copy_of(name, tmp_path)
    (folder / file).rename(tmp_path / "elsewhere")
    (folder / file).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FrontendError, match=rf"{file} is a link to a file outside of the model's folder"):
        CORE.read_model(folder)


def test_the_folder_may_be_a_link(tmp_path):
    (tmp_path / "link").symlink_to(CASES / "keras")
    assert CORE.read_model(tmp_path / "link").inputs


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        # The number of data files: none, too many.
        ({b"": b""}, "the checkpoint has 0 data files"),
        ({b"": b"\x08\xc0\xc4\x07"}, "the checkpoint has 123456 data files"),
        # A tensor in the data file of number 7, of which there is one.
        ({b"": b"\x08\x01", b"w": b"\x08\x01\x18\x07\x28\x04"}, "'w' of the checkpoint: there is no data file 7"),
        ({b"": b"\x08\x01", b"w": b"\x08\x01\x28\x04"}, r"m.data-00000-of-00001 cannot be read: No such file"),
        # Three strings in two bytes, and strings that are longer than the file.
        ({b"": b"\x08\x01", b"w": b"\x08\x07\x12\x04\x12\x02\x08\x03\x28\x02"}, "3 strings have only 2 bytes"),
        (
            {b"": b"\x08\x01", b"w": b"\x08\x07\x12\x04\x12\x02\x08\x01\x28\x07"},
            "lengths of its strings do not add up",
        ),
    ],
)
def test_damaged_entries_of_a_checkpoint(fields, message, tmp_path):
    (tmp_path / "m.index").write_bytes(table(list(fields.items())))
    if b"w" in fields and b"\x07\x12" in fields[b"w"]:
        (tmp_path / "m.data-00000-of-00001").write_bytes(b"\x09\0\0\0\0ab")
    with pytest.raises(FrontendError, match=message):
        Checkpoint(tmp_path / "m", tmp_path / "m.meta")["w"]


def test_truncated_variables(tmp_path):
    folder = copy_of("keras", tmp_path)
    changed(folder / "variables" / "variables.data-00000-of-00001", lambda data: data.__delitem__(slice(100, None)))
    with pytest.raises(FrontendError, match="truncated"):
        CORE.read_model(folder)


def test_damaged_index(tmp_path):
    folder = copy_of("keras", tmp_path)
    index = folder / "variables" / "variables.index"
    changed(index, lambda data: data.__setitem__(20, data[20] ^ 1))
    with pytest.raises(FrontendError, match="a checksum differs"):
        CORE.read_model(folder)
    changed(index, lambda data: data.__delitem__(slice(-1, None)))
    with pytest.raises(FrontendError, match="damaged or truncated"):
        CORE.read_model(folder)


def test_no_graph(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(b"\x08\x01\x12\x08\x0a\x02\x22\x00\x12\x02\x0a\x00")
    with pytest.raises(FrontendError):
        CORE.read_model(tmp_path)


def test_an_asset_outside_the_folder(tmp_path):
    folder = copy_of("vocabulary", tmp_path)
    data = (folder / "saved_model.pb").read_bytes()
    assert data.count(b"\x12\x09words.txt") == 1
    (folder / "saved_model.pb").write_bytes(data.replace(b"\x12\x09words.txt", b"\x12\x09../../etc"))
    with pytest.raises(FrontendError, match=r"'../../etc' is outside the folder"):
        CORE.read_model(folder)


def test_a_missing_asset(tmp_path):
    folder = copy_of("vocabulary", tmp_path)
    (folder / "assets" / "words.txt").unlink()
    with pytest.raises(FrontendError, match=r"words.txt cannot be read"):
        CORE.read_model(folder)


def test_a_model_with_variables_needs_its_path():
    with pytest.raises(FrontendError, match="needs its path"):
        CORE.read_model((CASES / "keras" / "saved_model.pb").read_bytes())


@pytest.mark.parametrize("seed", range(120))
def test_random_damage(seed, tmp_path):
    """Either the damage is found, or it is in what does not matter."""
    generator = random.Random(seed)
    name = generator.choice([name for name in MODELS if name != "frames.pbtxt"])
    source = MODELS[name]
    if source.is_dir() or source.suffix == ".meta":
        folder = copy_of(name, tmp_path)
        path = folder / "model.meta" if source.suffix == ".meta" else folder
        file = generator.choice(sorted(one for one in folder.rglob("*") if one.is_file()))
    else:
        path = file = tmp_path / name
        shutil.copy(source, file)

    def damage(data):
        if seed % 3 == 0:
            del data[generator.randrange(len(data)) :]
        else:
            for _ in range(generator.choice([1, 20])):
                data[generator.randrange(len(data))] = generator.randrange(256)

    changed(file, damage)
    try:
        CORE.read_model(path)
    except FrontendError as error:
        assert str(error)
