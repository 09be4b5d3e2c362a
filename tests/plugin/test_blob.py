"""Blobs: undamaged ones are read, all others are refused with a reason."""

import io
import json
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetero.plugin.blobs.blob import ALIGNMENT, FORMAT, MAGIC, hetero_version, pack_blob, read_blob
from hetero.system.errors import BlobError

SECTIONS = {"graph": b"<net/>", "weights": [bytes(range(100)), b"", memoryview(b"more")], "nothing": b""}
OPTIONS = {"PERF_COUNT": True, "names": ("a", "b"), "set": {"d", "c"}}
BLOB = b"".join(pack_blob("NPU", "seventh", "acme-npu 1.2", OPTIONS, SECTIONS))
PREFIX = struct.Struct("<8sIIQQ")


def sealed(header: bytes, body: bytes = b"", version: int = FORMAT, **sizes: int) -> bytes:
    """Return a blob with any content and a correct checksum."""
    content = header + body
    size = sizes.get("size", PREFIX.size + len(content))
    sizes_bytes = struct.pack("<QQ", size, sizes.get("header_size", len(header)))
    return MAGIC + struct.pack("<II", version, zlib.crc32(sizes_bytes + content)) + sizes_bytes + content


def header(**changes) -> bytes:
    fields = {"device": "NPU", "architecture": "", "hetero": hetero_version(), "package": "acme-npu 1.2"}
    fields |= {"options": {}, "sections": []}
    return json.dumps(fields | changes).encode()


def as_path(content, folder):
    path = folder / "model.blob"
    path.write_bytes(content)
    return path


class Trickle(io.RawIOBase):
    """A stream that cannot seek and returns a few bytes at a time."""

    def __init__(self, content: bytes) -> None:
        self._content = io.BytesIO(content)

    def read(self, size: int = -1) -> bytes:
        return self._content.read(min(size, 7))


SOURCES = {
    "bytes": lambda content, folder: content,
    "bytearray": lambda content, folder: bytearray(content),
    "memoryview": lambda content, folder: memoryview(content),
    "path": as_path,
    "path as text": lambda content, folder: str(as_path(content, folder)),
    "file": lambda content, folder: as_path(content, folder).open("rb"),
    "unbuffered file": lambda content, folder: as_path(content, folder).open("rb", buffering=0),
    "stream": lambda content, folder: io.BytesIO(content),
    "trickle": lambda content, folder: Trickle(content),
}


@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_a_packed_blob_is_read(make, tmp_path):
    blob = read_blob(make(BLOB, tmp_path))
    assert (blob.device, blob.architecture, blob.version) == ("NPU", "seventh", hetero_version())
    assert blob.options == {"PERF_COUNT": True, "names": ["a", "b"], "set": ["c", "d"]}
    assert {name: bytes(section) for name, section in blob.sections.items()} == {
        "graph": b"<net/>", "weights": bytes(range(100)) + b"more", "nothing": b"",
    }  # fmt: skip
    assert all(section.readonly or make is SOURCES["bytearray"] for section in blob.sections.values())


def test_sections_are_aligned():
    assert all(BLOB.index(piece) % ALIGNMENT == 0 for piece in (b"<net/>", bytes(range(100))))


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_a_stream_is_read_from_its_position_to_the_end_of_the_blob(kind, tmp_path):
    second = b"".join(pack_blob("NPU", "eighth", "acme-npu 1.2", {}, {"all": b"123"}))
    stream = SOURCES[kind](b"before" + BLOB + second + b"after", tmp_path)
    stream.seek(len(b"before"))
    assert [read_blob(stream).architecture for _ in range(2)] == ["seventh", "eighth"]
    assert stream.read() == b"after"


DAMAGED = {
    "empty": (b"", "is empty, or a stream that stands at its end"),
    "a text": (b"<?xml version='1.0'?><net/>", "does not begin with"),
    "another mark": (b"\x89PNG\r\n\x1a\n" + BLOB[8:], "does not begin with"),
    "text mode": (BLOB.replace(b"\n", b"\r\n"), "does not begin with"),
    "cut in its magic": (BLOB[:5], "cut short: 5 bytes do not hold its header"),
    "cut in its prefix": (BLOB[:31], "cut short: 31 bytes do not hold its header"),
    "cut in its header": (BLOB[:60], f"cut short: it has 60 bytes, but should have {len(BLOB)}"),
    "last byte missing": (BLOB[:-1], f"cut short: it has {len(BLOB) - 1} bytes, but should have {len(BLOB)}"),
    "a byte changed": (BLOB.replace(b"<net/>", b"<nut/>"), "altered: its checksum is"),
    "newer format": (sealed(header(), version=FORMAT + 1), f"format {FORMAT + 1}, but this version of hetero reads"),
    "format 0": (sealed(header(), version=0), "format 0, but"),
    "claims 2**63 bytes": (sealed(header(), size=2**63), "cut short: it has"),
    "claims a header of 2**63": (sealed(header(), header_size=2**63), "cannot hold a header of"),
    "no JSON": (sealed(b"{device}"), "header .* cannot be understood"),
    "no object": (sealed(b"[]"), "header .* cannot be understood"),
    "nested JSON": (sealed(b"[" * 100_000), "header .* cannot be understood"),
    "no UTF-8": (sealed(b"\xff\xfe"), "header .* cannot be understood"),
    "no device": (sealed(header().replace(b"device", b"devise")), "header .* cannot be understood"),
    "device is a number": (sealed(header(device=1)), "expected str, not int"),
    "options are a list": (sealed(header(options=[])), "expected dict, not list"),
    "sections are a number": (sealed(header(sections=1)), "header .* cannot be understood"),
    "a section of three": (sealed(header(sections=[["a", 1, 2]])), "header .* cannot be understood"),
    "a section of 2**62": (sealed(header(sections=[["a", 2**62]])), "section a cannot have"),
    "a section of -1": (sealed(header(sections=[["a", -1]])), "section a cannot have -1 bytes"),
    "a section of true": (sealed(header(sections=[["a", True]])), "expected int, not bool"),
    "a section twice": (sealed(header(sections=[["a", 0], ["a", 0]]), bytes(64)), "section a cannot have 0 bytes"),
    "a section with a list for name": (sealed(header(sections=[[[], 0]]), bytes(64)), "cannot be understood"),
    "bytes that no section has": (sealed(header(), b"more"), "its sections have"),
}  # fmt: skip


@pytest.mark.parametrize("source", ["bytes", "path", "file", "trickle"])
@pytest.mark.parametrize(("content", "problem"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_blobs_are_refused(content, problem, source, tmp_path):
    with pytest.raises(BlobError, match=problem) as found:
        read_blob(SOURCES[source](content, tmp_path))
    assert "\n" not in str(found.value)


def test_bytes_after_a_blob_are_refused_except_in_streams(tmp_path):
    for source in (BLOB + b"\0", as_path(BLOB + b"\0", tmp_path)):
        with pytest.raises(BlobError, match=f"altered: it has {len(BLOB) + 1} bytes, but should have {len(BLOB)}"):
            read_blob(source)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (io.StringIO("text"), "cannot be read"),
        (None, "NoneType is not an exported model: give its bytes, its path or a binary stream"),
        (12, "int is not an exported model"),
        ("/nowhere/model.blob", "/nowhere/model.blob cannot be read: No such file"),
        ("/", "/ cannot be read: Is a directory"),
        ("a\0b", "cannot be read"),
    ],
)
def test_sources_that_cannot_be_read(source, problem):
    with pytest.raises(BlobError, match=problem):
        read_blob(source)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"device": "GPU"}, "is for device GPU, not for NPU: import it there"),
        ({"architecture": "sixth"}, "is for the architecture 'sixth', but NPU is 'seventh': compile and export"),
        ({"hetero": "0.0.1"}, "was exported by hetero 0.0.1, but this is hetero .*: compile and export"),
        ({"package": "acme-npu 1.1"}, "was exported by acme-npu 1.1, but NPU is from acme-npu 1.2: compile and export"),
    ],
)
def test_a_blob_of_another_device_or_version_is_refused(changes, problem):
    fields = header(**{"architecture": "seventh", **changes})
    with pytest.raises(BlobError, match=problem):
        read_blob(sealed(fields)).check_fits("NPU", "seventh", "acme-npu 1.2")


def test_a_blob_of_the_same_device_fits():
    read_blob(BLOB).check_fits("NPU", "seventh", "acme-npu 1.2")


@given(st.lists(st.tuples(st.integers(0, len(BLOB) - 1), st.integers(1, 255)), min_size=1, max_size=4, unique_by=min))
def test_changed_bytes_are_noticed(changes):
    content = bytearray(BLOB)
    for position, difference in changes:
        content[position] ^= difference
    if content != BLOB:
        with pytest.raises(BlobError):
            read_blob(content)


@given(st.integers(0, len(BLOB) - 1), st.sampled_from(["bytes", "stream"]))
def test_truncation_anywhere_is_noticed(length, kind):
    with pytest.raises(BlobError):
        read_blob(SOURCES[kind](BLOB[:length], None))


@given(st.binary(max_size=200), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1))
def test_any_prefix_with_any_content_is_refused(content, size, header_size, version):
    for number in (FORMAT, version):
        with pytest.raises(BlobError):
            read_blob(sealed(content, size=size, header_size=header_size, version=number))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(["device", "architecture", "hetero", "options", "sections"]), json_values)
def test_any_value_in_a_header_is_accepted_or_refused(field, value):
    try:
        blob = read_blob(sealed(header(**{field: value})))
    except BlobError:
        return
    # As text, since NaN is not equal to itself.
    assert repr(blob.options) == repr(value if field == "options" else {})
