"""Sections of the page "Plugin" of OpenVINO's guide to plugins, with the devices that hetero has.

https://docs.openvino.ai/2024/documentation/openvino-extensibility/openvino-plugin-library/plugin.html
"""

import numpy as np
import openvino
import pytest

from hetero import Core, Model, Parameter, Type, ops
from hetero import properties as props
from hetero.plugin import Device, Plugin, Registry, installed_plugins
from hetero.system.errors import BlobError, DeviceError, PropertyError
from tests.devices import PickyPlugin, core_with

X = np.float32([-1, 2])
DEVICES = ["TEMPLATE", "GPU", "ONEDNN", "OPENVINO.CPU"]
VIRTUAL = ["HETERO:GPU,TEMPLATE", "AUTO:TEMPLATE", "MULTI:TEMPLATE,GPU(2)", "BATCH:TEMPLATE(4)"]


def relu_model() -> Model:
    x = Parameter(Type.f32, [2], name="x")
    return Model(ops.Relu(x, name="relu"), [x], "model")


class TestDeviceId:
    """The guide's ``device_id``: TEMPLATE.0 is the device of TEMPLATE."""

    @pytest.mark.parametrize("name", ["TEMPLATE.0", "HETERO:TEMPLATE.0", "AUTO:TEMPLATE.0", "ONEDNN.0"])
    def test_compile_model(self, name):
        compiled = Core().compile_model(relu_model(), name)
        assert compiled.get_property("EXECUTION_DEVICES") == [name.partition(":")[2] or name]
        np.testing.assert_array_equal(compiled(X)[0], [0, 2])

    def test_query_model(self):
        core = Core()
        assert core.query_model(relu_model(), "TEMPLATE.0")["relu"] == "TEMPLATE.0"
        model = relu_model()
        model.get_ordered_ops()[1].rt_info["affinity"] = "TEMPLATE.0"
        for name in ("TEMPLATE", "TEMPLATE.0"):
            compiled = core.compile_model(model, f"HETERO:GPU,{name}")
            assert compiled.get_property("EXECUTION_DEVICES") == [name]

    def test_the_result_of_query_model_is_an_affinity(self):
        """query_model names GPU.0, which is GPU in the list of HETERO."""
        core = Core()
        for kind in ("GPU", "TEMPLATE", "ONEDNN"):
            (name,) = set(core.query_model(relu_model(), kind).values())
            for pinned in (kind, f"{kind}.0", name):
                model = relu_model()
                model.get_ordered_ops()[1].rt_info["affinity"] = pinned
                for listed in (kind, f"{kind}.0"):
                    first = "TEMPLATE" if kind == "GPU" else "GPU"
                    compiled = core.compile_model(model, f"HETERO:{first},{listed}")
                    assert compiled.get_property("EXECUTION_DEVICES") == [listed]
        model.get_ordered_ops()[1].rt_info["affinity"] = "GPU.7"
        with pytest.raises(DeviceError, match="'relu' is pinned to GPU.7, which is not among the devices"):
            core.compile_model(model, "HETERO:GPU,TEMPLATE")

    def test_set_property(self):
        core = Core()
        core.set_property("TEMPLATE.0", {"NUM_STREAMS": 3})
        assert core.get_property("TEMPLATE", "NUM_STREAMS") == core.get_property("TEMPLATE.0", "NUM_STREAMS") == 3
        core.set_property("TEMPLATE", {"NUM_STREAMS": 2, "DEVICE_ID": "0"})
        assert core.compile_model(relu_model(), "TEMPLATE").get_property("NUM_STREAMS") == 2
        assert core.get_property("TEMPLATE", "AVAILABLE_DEVICES") == [""]  # as in the guide

    def test_contexts(self):
        core = Core()
        for context in (core.create_context("TEMPLATE.0"), core.get_default_context("TEMPLATE.0")):
            assert core.compile_model(relu_model(), context).get_context() is context

    def test_another_id(self):
        core = Core()
        with pytest.raises(DeviceError, match=r"there is no device TEMPLATE\.1; there is TEMPLATE"):
            core.compile_model(relu_model(), "TEMPLATE.1")
        with pytest.raises(PropertyError, match="property DEVICE_ID of TEMPLATE cannot be '1': it takes 0"):
            core.compile_model(relu_model(), "TEMPLATE", {"DEVICE_ID": "1"})
        with pytest.raises(PropertyError, match="property DEVICE_ID of TEMPLATE cannot be '1': it takes 0"):
            core.create_context("TEMPLATE", {"DEVICE_ID": "1"})
        with pytest.raises(DeviceError, match="cannot use TEMPLATE and TEMPLATE.0, which are one device"):
            core.compile_model(relu_model(), "HETERO:TEMPLATE,TEMPLATE.0")


class TestGetProperty:
    @pytest.mark.parametrize("device", [*DEVICES, *VIRTUAL])
    def test_execution_devices(self, device):
        """Those of a plugin are the devices that it may use, those of a compiled model the devices that it uses."""
        core = Core()
        named = [name.partition("(")[0] for name in (device.partition(":")[2] or device).split(",")]
        assert core.get_property(device, "EXECUTION_DEVICES") == named
        assert set(core.compile_model(relu_model(), device).get_property("EXECUTION_DEVICES")) <= set(named)
        for kind in (device, device.partition(":")[0]):
            assert core.get_property(kind, "SUPPORTED_PROPERTIES")["EXECUTION_DEVICES"] == "RO"

    def test_execution_devices_like_openvino(self):
        ours, theirs = (
            Core().get_property("OPENVINO.CPU", "EXECUTION_DEVICES"),
            openvino.Core().get_property("CPU", "EXECUTION_DEVICES"),
        )
        assert ours == [f"OPENVINO.{name}" for name in theirs]
        assert [Core().get_property(kind, "EXECUTION_DEVICES") for kind in ("HETERO", "MULTI", "BATCH")] == [
            ["HETERO"], ["MULTI"], ["BATCH"],
        ]  # fmt: skip

    @pytest.mark.parametrize("device", [*DEVICES, *VIRTUAL])
    def test_caching_properties(self, device):
        """A mapping like that of OpenVINO, of properties that the device has."""
        core = Core()
        found = core.get_property(device, "CACHING_PROPERTIES")
        theirs = openvino.Core().get_property("CPU", "CACHING_PROPERTIES")
        assert (
            theirs.items() <= found.items() and found.keys() <= core.get_property(device, "SUPPORTED_PROPERTIES").keys()
        )
        assert (":" in device) or "DEVICE_ARCHITECTURE" in found
        assert core.compile_model(relu_model(), device).get_property("CACHING_PROPERTIES") == found

    def test_caching_properties_of_a_plugin_are_part_of_the_key_of_the_cache(self, tmp_path):
        versions = [""]
        driver = props.Property("DRIVER", str, "", props.Mutability.RO)

        class Driven(Device):
            def properties(self):
                return {**super().properties(), driver: versions[0], props.caching_properties: (driver,)}

        class Versioned(PickyPlugin):
            supported_properties = (*PickyPlugin.supported_properties, driver)

            def devices(self):
                return [Driven(capabilities=("EXPORT_IMPORT",))]

        loaded = []
        for versions[0] in ("1", "1", "2"):
            compiled = core_with(V=Versioned()).compile_model(relu_model(), "V", {"CACHE_DIR": tmp_path})
            assert compiled.get_property("CACHING_PROPERTIES")["DRIVER"] == "RO"
            loaded.append(compiled.get_property("LOADED_FROM_CACHE"))
        assert loaded == [False, True, False]


class TestImportModel:
    @pytest.mark.parametrize("device", [*DEVICES, "HETERO:GPU,TEMPLATE"])
    def test_the_version_of_the_plugin_package_is_checked(self, device, monkeypatch):
        blob = Core().compile_model(relu_model(), device).export_model().getvalue()
        np.testing.assert_array_equal(Core().import_model(blob, device)(X)[0], [0, 2])
        kind = device.partition(":")[0].partition(".")[0]
        package = installed_plugins().packages[kind]
        monkeypatch.setitem(installed_plugins().packages, kind, package.split()[0] + " 999.1")
        problem = f"was exported by {package}, but {kind} is from {package.split()[0]} 999.1: compile and export"
        with pytest.raises(BlobError, match=problem):
            Core().import_model(blob, device)

    def test_the_version_of_a_package_of_a_subgraph_is_checked(self, monkeypatch):
        blob = Core().compile_model(relu_model(), "HETERO:TEMPLATE").export_model().getvalue()
        monkeypatch.setitem(installed_plugins().packages, "TEMPLATE", "hetero-template 999.1")
        with pytest.raises(BlobError, match=r"but TEMPLATE is from hetero-template 999\.1"):
            Core().import_model(blob, "HETERO:TEMPLATE")

    def test_loaded_from_cache(self, tmp_path):
        """The model cache gives LOADED_FROM_CACHE to the plugin's import, also to those of HETERO's devices."""

        class Noting(PickyPlugin):
            def import_model(self, sections, options, context=None):
                noted.append(options.get("LOADED_FROM_CACHE"))
                return super().import_model(sections, options, context)

        noted: list = []
        for device in ("N", "HETERO:N"):
            for expected in (False, True):
                core = core_with(N=Noting())
                compiled = core.compile_model(relu_model(), device, {"CACHE_DIR": tmp_path / device})
                assert compiled.get_property("LOADED_FROM_CACHE") is expected
            noted_at_import = [*noted]
            assert noted_at_import[-1] is True
            again = core.import_model(compiled.export_model(), device)
            assert not again.get_property("LOADED_FROM_CACHE") and not noted[-1]
        np.testing.assert_array_equal(compiled(X)[0], [0, 2])

    def test_loaded_from_cache_is_no_option_of_a_compilation(self):
        for device in ("TEMPLATE", "HETERO:TEMPLATE"):
            with pytest.raises(PropertyError, match="LOADED_FROM_CACHE"):
                Core().compile_model(relu_model(), device, {"LOADED_FROM_CACHE": True})


def test_create_an_instance_of_the_plugin_class():
    """The version of the package that registers a plugin is that of its devices."""
    registry = Registry()
    registry.package = "acme-npu 1.2"
    registry.register_device("NPU", Plugin)
    assert registry.packages["NPU"] == "acme-npu 1.2"
    version = Core().get_versions("TEMPLATE")["TEMPLATE"]
    assert f"{version}" == installed_plugins().packages["TEMPLATE"] == Core().get_plugin("TEMPLATE").package
