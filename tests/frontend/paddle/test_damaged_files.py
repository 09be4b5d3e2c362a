"""Damaged programs and parameters: each gives a FrontendError that says what is wrong, soon and in little memory."""

import json
import random
import struct
from pathlib import Path

import pytest

from hetero import Core
from hetero.frontend.paddle import PaddleFrontEnd
from hetero.system.errors import FrontendError

CASES = Path(__file__).parent / "cases"
CORE = Core()
PARAMETERS = (CASES / "light_classifier.pdiparams").read_bytes()
FORMS = ["pdmodel", "json"]


def content(form, name="light_classifier"):
    return (CASES / f"{name}.{form}").read_bytes()


def changed_json(change, name="light_classifier"):
    """Return a JSON program that ``change`` has modified; it gets the program and the operators of its block."""
    program = json.loads(content("json", name))
    change(program, program["program"]["regions"][0]["blocks"][0]["ops"])
    return json.dumps(program).encode()


def varint(number):
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def message(*fields):
    """Return a protobuf message of numbers, texts and messages."""
    found = b""
    for number, value in fields:
        if isinstance(value, int):
            found += varint(number << 3) + varint(value & (1 << 64) - 1)
        else:
            value = value.encode() if isinstance(value, str) else value
            found += varint(number << 3 | 2) + varint(len(value)) + value
    return found


def attribute(name, kind, *fields):
    return message((1, name), (2, kind), *fields)


def operator(kind, attributes=(), inputs=(), outputs=()):
    def ports(given):
        return [message((1, port), (2, name)) for port, name in given]

    return message(*((1, port) for port in ports(inputs)), *((2, port) for port in ports(outputs)), (3, kind),
                   *((4, one) for one in attributes))  # fmt: skip


def program(*blocks):
    """Return a ProgramDesc of blocks, each a list of operators."""
    return message(
        *((1, message((1, index), (2, -1), *((4, one) for one in block))) for index, block in enumerate(blocks))
    )


FETCH = operator("fetch", [attribute("col", 0, (3, 0))], [("X", "y")])


def filled(*shape):
    lengths = [(15, length) for length in shape]
    attributes = [attribute("shape", 11, *lengths), attribute("dtype", 0, (3, 5)), attribute("value", 1)]
    return program([operator("fill_constant", attributes, outputs=[("Out", "y")]), FETCH])


def number(name, value):
    return attribute(name, 0, (3, value))


def of_filled(kind, port, output, *attributes):
    """Return a program of an operator on a matrix."""
    lengths = [attribute("shape", 11, (15, 4), (15, 4)), number("dtype", 5), attribute("value", 1)]
    return program([
        operator("fill_constant", lengths, outputs=[("Out", "x")]),
        operator(kind, attributes, [(port, "x")], [(output, "y")]), FETCH,
    ])  # fmt: skip


def loop(block):
    attributes = [attribute("sub_block", 8, (12, block))]
    return operator("while", attributes, [("Condition", "c")], [("Out", "y")])


def first(kind):
    def find(operators):
        return next(one for one in operators if one["#"] == kind)

    return find


DAMAGED = {
    "nothing in a ProgramDesc": (content("pdmodel")[:20], "is no ProgramDesc"),
    "a truncated ProgramDesc": (content("pdmodel")[:5000], "is no ProgramDesc"),
    "a truncated JSON program": (content("json")[:5000], "is no JSON program"),
    "deep JSON": (content("json")[:60] + b'"program":' + b"[" * 100_000, "nested too deep|is no JSON program"),
    "no block": (changed_json(lambda program, ops: program["program"].update(regions=[])), "is no JSON program"),
    "an undefined value": (changed_json(lambda program, ops: ops[-1]["I"][0].update({"%": 9999})), "reads value 9999"),
    "a value of another type": (changed_json(lambda program, ops: ops[-1].update(I=5)), "is no JSON program"),
    "an unknown element type": (
        changed_json(lambda program, ops: first("1.data")(ops)["O"][0]["TT"]["D"][0].update({"#": "0.t_c64"})),
        "input 'x0' is of a type",
    ),
    "a large shape": (filled(1 << 40, 1 << 20), "cannot be filled"),
    "a negative shape": (filled(-3), "cannot be filled"),
    "a large matrix of indices": (
        program([operator("tril_indices", [number("rows", 1 << 14), number("cols", 1 << 14), number("dtype", 3)],
                          outputs=[("out", "y")]), FETCH]), "is too large"
    ),
    "many levels of regions": (
        of_filled("distribute_fpn_proposals", "FpnRois", "RestoreIndex", number("min_level", 0),
                  number("max_level", 1 << 30), number("refer_level", 4), number("refer_scale", 224)),
        "has no outputs for the levels"
    ),
    "many repetitions": (
        of_filled("repeat_interleave", "X", "Out", attribute("Repeats", 9, (13, 1 << 40))), "cannot be repeated"
    ),
    "an operator without inputs": (program([operator("relu", outputs=[("Out", "y")]), FETCH]), "input 'X' is missing"),
    "a variable without a value": (program([FETCH]), "reads 'y', which no operator before it computes"),
    "a block in itself": (program([loop(1), FETCH], [loop(1)]), "has no block 1"),
    "blocks in a cycle": (program([loop(1), FETCH], [loop(2)], [loop(1)]), "has no block 1"),
    "a block of two operators": (program([loop(1), loop(1), FETCH], []), "block 1 belongs to several operators"),
    "a block that is missing": (program([loop(7), FETCH]), "has no block 7"),
    "many nested blocks": (program(*([loop(index + 1)] for index in range(200))), "has no block"),
    "an unknown attribute type": (program([operator("relu", [attribute("a", 99)])]), "unknown type 99"),
    "unknown operators": (
        program([operator("one"), operator("two"), operator("one")]),
        r"no translation of one \(2 nodes, the first is 'one'\), two \('two'\): add one with a ConversionExtension",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "message"), DAMAGED.values(), ids=DAMAGED)
def test_damaged(source, message):
    assert PaddleFrontEnd().supported(source)
    needs_parameters = b"linear" in source
    with pytest.raises(FrontendError, match=message):
        CORE.read_model(source, PARAMETERS if needs_parameters else None)


def tensor(shape, data=b"", levels=0, kind=5):
    description = message((1, kind), *((2, length) for length in shape))
    return struct.pack("<IQIi", 0, levels, 0, len(description)) + description + data


PARAMETER_FILES = {
    "empty": (b"", "ends or is damaged before"),
    "truncated": (PARAMETERS[:1000], "does not fit|ends or is damaged"),
    "too long": (PARAMETERS + b"1234", "4 bytes after its"),
    "another format": (b"PK" * 1000, "has no tensor for"),
    "a large shape": (tensor([1 << 40, 1 << 40]), "does not fit"),
    "a negative shape": (tensor([-1, 4]), "does not fit"),
    "many levels": (tensor([2], levels=1 << 60), "has no tensor for"),
    "an unknown type": (tensor([2], b"12345678", kind=23), "element type 23"),
    "a negative size": (struct.pack("<IQIi", 0, 0, 0, -5), "has no tensor for"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("parameters", "message"), PARAMETER_FILES.values(), ids=PARAMETER_FILES)
def test_damaged_parameters(parameters, message, form):
    with pytest.raises(FrontendError, match=message):
        CORE.read_model(content(form), parameters)


@pytest.mark.parametrize("form", FORMS)
def test_missing_parameters(form, tmp_path):
    with pytest.raises(FrontendError, match="give their file as the weights"):
        CORE.read_model(content(form))
    path = tmp_path / f"model.{form}"
    path.write_bytes(content(form))
    with pytest.raises(FrontendError, match="cannot be read"):
        CORE.read_model(path)


def test_names_of_separate_files_stay_in_the_folder(tmp_path):
    path = tmp_path / "__model__"
    path.write_bytes(content("pdmodel").replace(b"linear_0.w_0", b"../near_0.w0"))
    with pytest.raises(FrontendError, match="has no file in|cannot be read"):
        CORE.read_model(path)


def test_other_formats_are_not_supported():
    for other in (b"", b"{}", b'{"base_code": 1}', b"\x0a", b"\x08\x07\x12\x04", b"PK\x03\x04", b"<net></net>"):
        assert not PaddleFrontEnd().supported(other)


@pytest.mark.parametrize("seed", range(120))
@pytest.mark.parametrize("form", FORMS)
def test_random_damage(form, seed):
    """Either the damage is found, or it is in what does not matter."""
    generator = random.Random(seed)
    damaged, name = bytearray(content(form, "control_flow")), "control_flow"
    if seed % 3 == 0:
        damaged, name = bytearray(content(form, "quantized")), "quantized"
    for _ in range(generator.choice([1, 20])):
        damaged[generator.randrange(20, len(damaged))] = generator.randrange(256)
    path = CASES / f"{name}.pdiparams"
    try:
        CORE.read_model(bytes(damaged), path.read_bytes() if path.exists() else None)
    except FrontendError as error:
        assert str(error)
