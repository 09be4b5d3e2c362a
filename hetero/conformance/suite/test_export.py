"""Export and import of compiled models, and the model cache."""

import io
from pathlib import Path

import pytest

from hetero import Core
from hetero import properties as props
from hetero.conformance.samples import SampleModel, describe_ports, used_devices
from hetero.dispatch.devices import parse_device_name
from hetero.plugin import installed_plugins
from hetero.plugin.blobs.blob_import import exports_models
from hetero.system.errors import BlobError

exports = pytest.mark.needs("export and import")


@pytest.fixture
def blob(core: Core, device: str, sample: SampleModel) -> bytes:
    """An exported model x → y1 → y."""
    return core.compile_model(sample.model(length=2), device).export_model().getvalue()


@exports
def test_an_imported_model_is_the_exported_one(core: Core, device: str, sample: SampleModel, blob: bytes) -> None:
    exported = core.compile_model(sample.model(length=2), device)
    for source in (blob, io.BytesIO(blob)):
        imported = Core().import_model(source, device)
        assert describe_ports(imported.inputs) == describe_ports(exported.inputs)
        assert describe_ports(imported.outputs) == describe_ports(exported.outputs)
        assert imported.get_property(props.model_name) == "sample"
        sample.check(imported, length=2)


@exports
def test_it_can_be_exported_again(core: Core, device: str, sample: SampleModel, blob: bytes) -> None:
    sample.check(core.import_model(core.import_model(blob, device).export_model(), device), length=2)


@exports
@pytest.mark.needs("dynamic shapes")
def test_dynamic_shapes_stay_dynamic(core: Core, device: str, sample: SampleModel) -> None:
    imported = core.import_model(core.compile_model(sample.model(-1), device).export_model(), device)
    for rows in (3, 1):
        sample.check(imported, rows, rows)


@exports
def test_options_of_the_import_take_precedence(core: Core, device: str, sample: SampleModel) -> None:
    for key, mutability in core.get_property(device, props.supported_properties).items():
        value = core.get_property(device, key)
        if mutability == "RW" and isinstance(value, bool):
            blob = core.compile_model(sample.model(), device, {key: not value}).export_model().getvalue()
            assert core.import_model(blob, device).get_property(key) == (not value)
            assert core.import_model(blob, device, {key: value}).get_property(key) == value


@exports
def test_invalid_blobs_are_refused(core: Core, device: str, sample: SampleModel, blob: bytes) -> None:
    kind = parse_device_name(device).kind
    core.register_plugin(installed_plugins().devices[kind], "ANOTHER")
    with pytest.raises(BlobError, match=f"for device {kind}, not for ANOTHER"):
        core.import_model(blob, "ANOTHER")
    altered = bytearray(blob)
    altered[len(blob) // 2] ^= 1
    for source in (b"", b"no model", blob[: len(blob) // 2], blob[:-1], bytes(altered)):
        with pytest.raises(BlobError):
            core.import_model(source, device)
    sample.check(core.import_model(blob, device), length=2)


def test_a_cache_folder(device: str, sample: SampleModel, tmp_path: Path) -> None:
    """The second compilation is loaded from the cache if the device exports models; else the cache has no effect.

    A virtual device uses the cache of its devices.
    """
    loaded = []
    for _ in range(2):
        core = Core()
        core.set_property({props.cache_dir: str(tmp_path)})
        compiled = core.compile_model(sample.model(length=2), device)
        sample.check(compiled, length=2)
        loaded.append(compiled.get_property(props.loaded_from_cache))
    assert loaded == [False, all(exports_models(*core.resolve_device(name)) for name in used_devices(core, device))]


@exports
def test_a_cached_model_that_is_damaged_is_compiled_again(device: str, sample: SampleModel, tmp_path: Path) -> None:
    for _ in range(2):
        core = Core()
        core.set_property({props.cache_dir: str(tmp_path)})
        sample.check(core.compile_model(sample.model(length=2), device), length=2)
        for file in tmp_path.glob("*.blob"):
            file.write_bytes(file.read_bytes()[:-20])
