"""Untrusted blobs: importing any content succeeds or raises BlobError or DeviceError."""

import functools
import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetero import Core, Model, Parameter, Type, ops
from hetero.plugin.blobs.blob import pack_blob, read_blob
from hetero.system.errors import BlobError, DeviceError

core = Core()
DEVICES = ["TEMPLATE", "GPU"]


@functools.cache
def exported(device) -> bytes:
    x = Parameter(Type.f32, [2, 3], name="x")
    y = ops.Softmax(ops.MatMul(x, np.ones([3, 4], np.float32), False, False, name="product"), axis=1, name="soft")
    return core.compile_model(Model([y], [x], "small"), device).export_model().getvalue()


def repacked(device, **changes) -> bytes:
    """Return the exported model with other sections, options or architecture, and a valid checksum."""
    blob = read_blob(exported(device))
    sections = {name: bytes(changes.get(name, content)) for name, content in blob.sections.items()}
    sections = {name: content for name, content in sections.items() if name not in changes.get("without", ())}
    architecture = changes.get("architecture", blob.architecture)
    options = changes.get("options", blob.options)
    return b"".join(pack_blob(blob.device, architecture, blob.package, options, sections))


def section(device, name) -> bytes:
    return bytes(read_blob(exported(device)).sections[name])


def check_refused(content, device, problem=None):
    with pytest.raises((BlobError, DeviceError), match=problem) as raised:
        core.import_model(content, device)
    assert "\n" not in str(raised.value)


def ports(**changes) -> bytes:
    port = {"name": "x", "names": [], "type": "f32", "shape": "[2,3]", "dimensions": {}, "layout": "[...]"}
    return json.dumps({"name": "small", "inputs": [port | changes], "outputs": [port]}).encode()


CHANGES = {
    "no ports": ({"without": ["ports"]}, "has no section ports"),
    "no graph": ({"without": ["xml"]}, "has no section xml"),
    "ports of no JSON": ({"ports": b"{"}, "ports of the exported model cannot be understood"),
    "ports nested": ({"ports": b"[" * 100_000}, "ports of the exported model cannot be understood"),
    "ports without inputs": ({"ports": b"{}"}, "ports of the exported model cannot be understood"),
    "a port of no type": ({"ports": ports(type="f33")}, "ports of the exported model cannot be understood"),
    "names of dimensions": ({"ports": ports(dimensions=3)}, "ports of the exported model cannot be understood"),
    "a port of no shape": ({"ports": ports(shape="[tw o]")}, "'tw o' is not a dimension"),
    "a port of no layout": ({"ports": ports(layout="[N,N]")}, "has dimension N more than once"),
    "a port of a layout of another rank": ({"ports": ports(layout="N")}, "does not fit its shape"),
    "a port with a number for names": ({"ports": ports(names=3)}, "ports of the exported model cannot be understood"),
    "another number of ports": ({"ports": b'{"name": "a", "inputs": [], "outputs": []}'}, "inputs .* are not those of"),
    "a port of another type": ({"ports": ports(type="f16")}, "inputs of the exported model are not those of its graph"),
    "a port of another shape": ({"ports": ports(shape="[2,?,1]")}, "inputs of the exported model are not those of"),
    "no XML": ({"xml": b"<net"}, "contains no model that .* can compile: .*XML is damaged"),
    "entities": ({"xml": b'<!DOCTYPE a [<!ENTITY b "c">]><net version="11">&b;</net>'}, "XML is not accepted"),
    "weights cut": ({"weights": b"1234"}, "do not lie within the 4 bytes of weights"),
    "another architecture": ({"architecture": "abacus"}, "is for the architecture 'abacus', but"),
    "unknown options": ({"options": {"SPEED": 3}}, "options .* are invalid: .* has no property SPEED"),
    "bad options": ({"options": {"PERF_COUNT": "perhaps"}}, "are invalid: .*PERF_COUNT .* cannot be 'perhaps'"),
}  # fmt: skip


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("change", "problem"), CHANGES.values(), ids=CHANGES)
def test_invalid_sections_and_headers(change, problem, device):
    check_refused(repacked(device, **change), device, problem)


@pytest.mark.parametrize("without", ["ports", "xml"])
def test_message_names_the_file(without, tmp_path):
    path = tmp_path / "small.blob"
    path.write_bytes(repacked("TEMPLATE", without=[without]))
    check_refused(path, "TEMPLATE", f"{path} is damaged: the exported model has no section {without}")


HUGE = {
    "a parameter": (b'shape="2,3"', b'shape="2305843009213693952,3"'),
    "a constant": (b'shape="3, 4"', b'shape="3, 2305843009213693952"'),
    "its bytes": (b'size="48"', b'size="2305843009213693952"'),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("what", "claim"), HUGE.values(), ids=HUGE)
def test_forged_sizes_allocate_no_memory(what, claim, device):
    xml = section(device, "xml")
    assert what in xml
    content = repacked(device, xml=xml.replace(what, claim))
    tracemalloc.start()
    try:
        check_refused(content, device)
        assert tracemalloc.get_traced_memory()[1] < 10e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("device", DEVICES)
@given(data=st.data())
def test_changed_bytes_and_truncation(device, data):
    content = bytearray(exported(device))
    position = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[position] ^= data.draw(st.integers(1, 255))
    else:
        del content[position:]
    check_refused(bytes(content), device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["ports", "xml", "weights"])
@given(data=st.data())
def test_changed_section_with_a_valid_checksum(device, name, data):
    content = bytearray(section(device, name))
    for _ in range(data.draw(st.integers(1, 3))):
        begin = data.draw(st.integers(0, len(content)))
        content[begin : begin + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    try:
        core.import_model(repacked(device, **{name: content}), device)
    except (BlobError, DeviceError) as error:
        assert "\n" not in str(error)
