"""Damaged exported programs: each gives a FrontendError that says what is wrong, and no code in them is run."""

import io
import json
import random
import zipfile
from pathlib import Path

import pytest

from hetero import Core
from hetero.system.errors import FrontendError

CASES = Path(__file__).parent / "cases"
CORE = Core()
GENERATOR = random.Random(0)


def rewritten(change=lambda name, content: content, compression=zipfile.ZIP_STORED, name="convolutions.pt2") -> bytes:
    """Return an archive with the files that ``change(name, content)`` returns."""
    target = io.BytesIO()
    with zipfile.ZipFile(CASES / name) as source, zipfile.ZipFile(target, "w", compression) as archive:
        for info in source.infolist():
            if (content := change(info.filename.partition("/")[2], source.read(info))) is not None:
                archive.writestr(info.filename, content)
    return target.getvalue()


def changed_json(file, change):
    """Return an archive in which ``change`` has modified the contents of a JSON file."""

    def edit(name, content):
        if name != file:
            return content
        value = json.loads(content)
        change(value)
        return json.dumps(value)

    return rewritten(edit)


def changed_program(change):
    return changed_json("models/model.json", change)


def nodes(program):
    return program["graph_module"]["graph"]["nodes"]


def changed_weight(**members):
    def change(config):
        next(iter(config["config"].values())).update(members)

    return changed_json("data/weights/model_weights_config.json", change)


def meta(**members):
    with zipfile.ZipFile(CASES / "convolutions.pt2") as archive:
        config = json.loads(archive.read("convolutions/data/weights/model_weights_config.json"))
    return next(iter(config["config"].values()))["tensor_meta"] | members


def numbers(*values):
    return [{"as_int": value} for value in values]


DAMAGED = {
    "no JSON": (rewritten(lambda name, content: b"{" if name.endswith("model.json") else content), "is not JSON"),
    "nothing in the JSON": (rewritten(lambda name, content: b"[]" if name.endswith("model.json") else content),
                            "is no exported program"),
    "deep JSON": (rewritten(lambda name, content: b"[" * 100_000 if name.endswith("model.json") else content), "JSON"),
    "a newer schema": (changed_program(lambda program: program["schema_version"].update(major=99)), "version 99"),
    "a compressed weight": (rewritten(compression=zipfile.ZIP_DEFLATED), "is compressed"),
    "a missing weight": (rewritten(lambda name, content: None if name.endswith("weight_0") else content), "weight_0"),
    "a weight cut off": (rewritten(lambda name, content: content[:4] if name.endswith("weight_0") else content), "fit"),
    "a pickled weight": (changed_weight(use_pickle=True), "pickled"),
    "a large shape": (changed_weight(tensor_meta=meta(sizes=numbers(1 << 60, 3, 5, 5))), "fit"),
    "large strides": (changed_weight(tensor_meta=meta(strides=numbers(1 << 40, 25, 5, 1))), "fit"),
    "negative strides": (changed_weight(tensor_meta=meta(strides=numbers(-75, 25, 5, 1))), "strides"),
    "an offset": (changed_weight(tensor_meta=meta(storage_offset={"as_int": 1 << 40})), "fit"),
    "another rank": (changed_weight(tensor_meta=meta(sizes=numbers(2))), "strides"),
    "complex elements": (changed_weight(tensor_meta=meta(dtype=10)), "scalar type 10"),
    "another folder": (changed_weight(path_name="../../../models/model.json"), "has no file"),
    "an unknown operator": (
        changed_program(lambda program: nodes(program)[0].update(target="torch.ops.my.op.x")),
        r"no translation of my::op\.x \('stem\.0/",
    ),
    "an undefined value": (
        changed_program(
            lambda program: nodes(program)[0]["inputs"][0]["arg"]["as_tensor"].update(name="z")
        ),
        "reads 'z'",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("content", "message"), DAMAGED.values(), ids=DAMAGED)
def test_damaged(content, message):
    with pytest.raises(FrontendError, match=message):
        CORE.read_model(content)


@pytest.mark.parametrize("seed", range(150))
def test_random_damage(seed):
    """Either the damage is found, or it is in what does not matter."""
    generator = random.Random(seed)
    content = bytearray((CASES / "cache.pt2").read_bytes())
    if seed % 3 == 0:
        del content[generator.randrange(len(content)) :]
    else:
        for _ in range(generator.choice([1, 20])):
            content[generator.randrange(len(content))] = generator.randrange(256)
    try:
        CORE.read_model(bytes(content))
    except FrontendError as error:
        assert str(error)
