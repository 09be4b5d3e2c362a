"""Export and import of compiled models, and the model cache."""

import io

import pytest

from hetero import Core
from hetero import properties as props
from hetero.conformance.samples import assert_close, describe_ports
from hetero.errors import BlobError
from hetero.plugin import installed_plugins
from hetero.plugin.blob_import import exports_models
from hetero.runtime.device_name import parse_device_name

exports = pytest.mark.needs("export and import")


@pytest.fixture
def blob(core, device, sample) -> bytes:
    """An exported model x → y1 → y."""
    return core.compile_model(sample.model(length=2), device).export_model().getvalue()


def check(compiled, sample, rows=2, length=2):
    array = sample.array(rows, rows)
    assert_close(compiled(array)["y"], sample.expected(array, length), scale=length)


@exports
def test_an_imported_model_is_the_exported_one(core, device, sample, blob):
    exported = core.compile_model(sample.model(length=2), device)
    for source in (blob, io.BytesIO(blob)):
        imported = Core().import_model(source, device)
        assert describe_ports(imported.inputs) == describe_ports(exported.inputs)
        assert describe_ports(imported.outputs) == describe_ports(exported.outputs)
        assert imported.get_property(props.model_name) == "sample"
        check(imported, sample)


@exports
def test_it_can_be_exported_again(core, device, sample, blob):
    check(core.import_model(core.import_model(blob, device).export_model(), device), sample)


@exports
@pytest.mark.needs("dynamic shapes")
def test_dynamic_shapes_stay_dynamic(core, device, sample):
    imported = core.import_model(core.compile_model(sample.model(-1), device).export_model(), device)
    for rows in (3, 1):
        check(imported, sample, rows, length=1)


@exports
def test_options_are_kept_and_those_of_the_import_win(core, device, sample):
    for key, mutability in core.get_property(device, props.supported_properties).items():
        value = core.get_property(device, key)
        if mutability == "RW" and isinstance(value, bool):
            blob = core.compile_model(sample.model(), device, {key: not value}).export_model().getvalue()
            assert core.import_model(blob, device).get_property(key) == (not value)
            assert core.import_model(blob, device, {key: value}).get_property(key) == value


@exports
def test_what_is_no_model_of_the_device_is_refused(core, device, sample, blob):
    kind = parse_device_name(device).kind
    core.register_plugin(installed_plugins().devices[kind], "ANOTHER")
    with pytest.raises(BlobError, match=f"for device {kind}, not for ANOTHER"):
        core.import_model(blob, "ANOTHER")
    altered = bytearray(blob)
    altered[len(blob) // 2] ^= 1
    for source in (b"", b"no model", blob[: len(blob) // 2], blob[:-1], bytes(altered)):
        with pytest.raises(BlobError):
            core.import_model(source, device)
    check(core.import_model(blob, device), sample)


def test_a_cache_folder(device, sample, tmp_path):
    """The second compilation is loaded from the cache if the device exports models; else the cache has no effect."""
    loaded = []
    for _ in range(2):
        core = Core()
        core.set_property({props.cache_dir: str(tmp_path)})
        compiled = core.compile_model(sample.model(length=2), device)
        check(compiled, sample)
        loaded.append(compiled.get_property(props.loaded_from_cache))
    assert loaded == [False, exports_models(*core.resolve_device(device))]


@exports
def test_a_cached_model_that_is_damaged_is_compiled_again(device, sample, tmp_path):
    for _ in range(2):
        core = Core()
        core.set_property({props.cache_dir: str(tmp_path)})
        check(core.compile_model(sample.model(length=2), device), sample)
        for file in tmp_path.glob("*.blob"):
            file.write_bytes(file.read_bytes()[:-20])
