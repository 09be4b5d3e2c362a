"""The model cache: a second compilation loads the blob of the first one, unless something differs."""

import importlib
import logging
import multiprocessing
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from hetero import Constant, Core, Model, Op, Parameter, Type, ops, serialize
from hetero.graph import Attribute
from hetero.plugin import Device
from hetero.runtime.model_cache import model_hash
from hetero.system.errors import DeviceError, FrontendError, PropertyError
from tests import zoo
from tests.devices import PickyPlugin, core_with

DEVICES = ["TEMPLATE", "GPU"]
X = np.float32([[1, -2]])


def small(value=2.0, shape=(-1, 2), name="x", node="product", affinity=None, model="small", output="y") -> Model:
    x = Parameter(Type.f32, shape, name=name)
    x.output(0).names = {name}
    product = ops.Multiply(x, np.float32([value, 1]), name=node)
    if affinity:
        product.rt_info["affinity"] = affinity
    product.output(0).names = {output}
    return Model(product, [x], model)


def blobs(folder):
    return sorted(folder.glob("*.blob"))


def loaded(compiled) -> bool:
    return compiled.get_property("LOADED_FROM_CACHE")


@pytest.mark.parametrize("device", DEVICES)
class TestOnADevice:
    def test_second_compilation_is_loaded_with_the_same_results(self, device, tmp_path):
        options = {"CACHE_DIR": tmp_path / "to be made" / "cache"}
        first, second = (Core().compile_model(small(), device, options) for _ in range(2))
        assert [loaded(first), loaded(second)] == [False, True]
        np.testing.assert_array_equal(first(X)[0], [[2, -2]])
        np.testing.assert_array_equal(second(X)[0], [[2, -2]])
        assert len(blobs(tmp_path / "to be made" / "cache")) == 1

    def test_no_caching_without_a_folder(self, device):
        core = Core()
        assert not any(loaded(core.compile_model(small(), device)) for _ in range(2))

    def test_cache_dir_of_core_applies_to_all_devices(self, device, tmp_path):
        core = Core()
        core.set_property({"CACHE_DIR": tmp_path})
        assert core.get_property("CACHE_DIR") == str(tmp_path)
        assert [loaded(core.compile_model(small(), device)) for _ in range(2)] == [False, True]
        assert not loaded(core.compile_model(small(), device, {"CACHE_DIR": ""}))

    def test_path_and_model_share_a_cache_entry(self, device, tmp_path):
        core, options = Core(), {"CACHE_DIR": tmp_path}
        path = zoo.path("magika")
        assert not loaded(core.compile_model(path, device, options))
        compiled = core.compile_model(path, device, options)
        assert loaded(compiled) and loaded(core.compile_model(core.read_model(path), device, options))
        results = compiled(zoo.inputs("magika"))
        np.testing.assert_allclose(results[0], next(iter(zoo.expected("magika").values())), rtol=1e-4, atol=1e-6)

    @pytest.mark.parametrize(
        "damage", [lambda c: b"", lambda c: c[:100], lambda c: c[:-1] + bytes([c[-1] ^ 1]), lambda c: b"x" * 1000]
    )
    def test_damaged_file_is_logged_and_replaced(self, device, damage, tmp_path, caplog):
        core, options = Core(), {"CACHE_DIR": tmp_path}
        core.compile_model(small(), device, options)
        (file,) = blobs(tmp_path)
        content = file.read_bytes()
        file.write_bytes(damage(content))
        with caplog.at_level(logging.WARNING, "hetero"):
            again = core.compile_model(small(), device, options)
        assert not loaded(again) and "'small' is compiled again" in caplog.text
        np.testing.assert_array_equal(again(X)[0], [[2, -2]])
        assert blobs(tmp_path) == [file] and len(file.read_bytes()) == len(content)
        assert loaded(core.compile_model(small(), device, options))

    @pytest.mark.parametrize("name", ["file", "x" * 300, "x/" * 3000, "a\0b"], ids=["file", "long", "deep", "null"])
    def test_unusable_folder_is_logged(self, device, name, tmp_path, caplog):
        (tmp_path / "file").write_text("not a folder")
        with caplog.at_level(logging.WARNING, "hetero"):
            compiled = Core().compile_model(small(), device, {"CACHE_DIR": str(tmp_path / name)})
        (warning,) = caplog.messages
        assert warning.startswith(f"the cache folder {tmp_path}") and " is not used: " in warning
        np.testing.assert_array_equal(compiled(X)[0], [[2, -2]])

    def test_concurrent_threads(self, device, tmp_path):
        core, results = Core(), []

        def compile_and_run():
            results.append(core.compile_model(small(), device, {"CACHE_DIR": tmp_path})(X)[0])

        threads = [threading.Thread(target=compile_and_run) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [result.tolist() for result in results] == [[[2, -2]]] * 8
        assert len(blobs(tmp_path)) == 1 and not list(tmp_path.glob(".*"))


def never_read(*arguments):
    raise AssertionError("the model was read")


def test_file_is_read_again_only_if_it_or_its_weights_change(tmp_path, monkeypatch):
    core, options, file = Core(), {"CACHE_DIR": tmp_path / "cache"}, tmp_path / "model.xml"
    serialize(small(), file)

    def compiled():
        return core.compile_model(str(file), "TEMPLATE", options)

    assert not loaded(compiled())
    with monkeypatch.context() as patch:
        patch.setattr(core, "read_model", never_read)
        assert loaded(compiled())
    weights = file.with_suffix(".bin")
    weights.write_bytes(weights.read_bytes().replace(np.float32(2).tobytes(), np.float32(3).tobytes()))
    os.utime(weights, ns=(0, 1))
    changed = compiled()
    assert not loaded(changed)
    np.testing.assert_array_equal(changed(X)[0], [[3, -2]])
    os.utime(file, ns=(0, 1))  # as when it was written anew with the same content
    assert loaded(compiled())
    weights.unlink()
    with pytest.raises(FrontendError, match="do not lie within"):
        compiled()


class OfTheUser(Op):
    inputs = ("x",)

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


def test_file_is_always_read_with_extensions(tmp_path, monkeypatch):
    core, options, file = Core(), {"CACHE_DIR": tmp_path / "cache"}, tmp_path / "model.xml"
    serialize(small(), file)
    core.compile_model(file, "TEMPLATE", options)
    core.add_extension(OfTheUser)
    assert loaded(core.compile_model(file, "TEMPLATE", options))
    monkeypatch.setattr(core, "read_model", never_read)
    with pytest.raises(AssertionError, match="the model was read"):
        core.compile_model(file, "TEMPLATE", options)


def test_damaged_hash_file(tmp_path, monkeypatch):
    core, options, file = Core(), {"CACHE_DIR": tmp_path / "cache"}, tmp_path / "model.xml"
    serialize(small(), file)
    core.compile_model(file, "TEMPLATE", options)
    (known,) = (tmp_path / "cache").glob("*.json")
    content = known.read_bytes()
    for damage in (b"", b"[]", b"{}", b"[" * 100_000, b'{"files": 1, "model": 2}', content[:-5], b"\xff"):
        known.write_bytes(damage)
        assert loaded(core.compile_model(file, "TEMPLATE", options))
        assert known.read_bytes() == content
    with monkeypatch.context() as patch:
        patch.setattr(core, "read_model", never_read)
        assert loaded(core.compile_model(file, "TEMPLATE", options))


def test_missing_file(tmp_path):
    with pytest.raises(FrontendError, match="there is no model file"):
        Core().compile_model("nowhere.onnx", "TEMPLATE", {"CACHE_DIR": tmp_path})


CHANGES = {
    "weights": {"value": 3.0},
    "shape": {"shape": (1, 2)},
    "name of a dimension": {"shape": ("batch=?", 2)},
    "name of an input": {"name": "z"},
    "name of an output": {"output": "z"},
    "name of an operation": {"node": "other"},
    "affinity": {"affinity": "TEMPLATE"},
    "name of the model": {"model": "other"},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_other_model_is_not_cached(change, tmp_path):
    core, options = Core(), {"CACHE_DIR": tmp_path}
    core.compile_model(small(), "TEMPLATE", options)
    compiled = core.compile_model(small(**change), "TEMPLATE", options)
    assert not loaded(compiled) and len(blobs(tmp_path)) == 2
    np.testing.assert_array_equal(compiled(X)[0], [[change.get("value", 2), -2]])


def test_other_options_and_properties_are_not_cached(tmp_path):
    core, options = Core(), {"CACHE_DIR": tmp_path}
    core.compile_model(small(), "TEMPLATE", options)
    assert not loaded(core.compile_model(small(), "TEMPLATE", {**options, "DISABLE_TRANSFORMATIONS": True}))
    core.set_property("TEMPLATE", {"NUM_STREAMS": 2})
    compiled = core.compile_model(small(), "TEMPLATE", options)
    assert not loaded(compiled) and compiled.get_property("NUM_STREAMS") == 2
    again = core.compile_model(small(), "TEMPLATE", options)
    assert loaded(again) and again.get_property("NUM_STREAMS") == 2


class Renewed(PickyPlugin):
    """TEMPLATE on another architecture."""

    def devices(self):
        return [Device(architecture="newer", capabilities=("EXPORT_IMPORT",))]


def test_other_device_and_architecture_are_not_cached(tmp_path):
    core = core_with(ONE=PickyPlugin(), TWO=PickyPlugin())
    assert [loaded(core.compile_model(small(), d, {"CACHE_DIR": tmp_path})) for d in ("ONE", "TWO")] == [False, False]
    renewed = core_with(ONE=Renewed())
    assert [loaded(renewed.compile_model(small(), "ONE", {"CACHE_DIR": tmp_path})) for _ in range(2)] == [False, True]


@pytest.mark.parametrize("part", ["hetero_version", "package"])
def test_other_version_is_not_cached(part, tmp_path, monkeypatch):
    core, options = Core(), {"CACHE_DIR": tmp_path}
    core.compile_model(small(), "TEMPLATE", options)
    if part == "package":
        monkeypatch.setitem(core._registry.packages, "TEMPLATE", "hetero-template 77")
    else:
        monkeypatch.setattr("hetero.runtime.model_cache.hetero_version", lambda: "77")
    assert not loaded(core.compile_model(small(), "TEMPLATE", options))


PLUGIN = """
import scales
from hetero_template.plugin import TemplatePlugin

class Scaling(TemplatePlugin):
    def transform_model(self, model, properties):
        for node in model.get_ordered_ops():
            if node.type_info.name == "Constant":
                node.data = node.data * FACTOR * scales.SCALE
        return model
"""


@pytest.mark.parametrize("device", ["MINE", "HETERO:MINE"])
def test_an_edited_plugin_compiles_again(device, tmp_path, monkeypatch):
    """It keeps its version while its author works on it, also if it has several files."""
    monkeypatch.syspath_prepend(tmp_path)
    file, options = tmp_path / "plugin.py", {"CACHE_DIR": tmp_path / "cache"}

    def compiled(factor: int, scale: int):
        file.write_text(PLUGIN.replace("FACTOR", str(factor)))
        (tmp_path / "scales.py").write_text(f"SCALE = {scale}")
        monkeypatch.delitem(sys.modules, "scales", raising=False)
        importlib.invalidate_caches()
        core = Core()
        core.register_plugin(file, "MINE")
        return core.compile_model(small(), device, options)

    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # whose time stamps are whole seconds
    for factor, scale, is_loaded in ((1, 1, False), (1, 1, True), (3, 1, False), (3, 2, False), (3, 2, True)):
        model = compiled(factor, scale)
        assert loaded(model) is is_loaded
        np.testing.assert_array_equal(model(X)[0], [[2 * factor * scale, -2 * factor * scale]])


class CannotExport(PickyPlugin):
    def devices(self):
        return [Device(capabilities=("FP32",))]


def test_devices_without_export_are_not_cached(tmp_path):
    core = core_with(PLAIN=CannotExport())
    compiled = [core.compile_model(small(), "PLAIN", {"CACHE_DIR": tmp_path}) for _ in range(2)]
    assert not any(map(loaded, compiled)) and not blobs(tmp_path)


@pytest.mark.parametrize("devices", ["TEMPLATE", "GPU", "GPU,TEMPLATE"])
def test_models_on_several_devices(devices, tmp_path):
    core = Core()
    core.set_property({"CACHE_DIR": tmp_path})
    for expected, options in ((False, {}), (True, {}), (True, {"CACHE_DIR": tmp_path}), (False, {"CACHE_DIR": ""})):
        compiled = core.compile_model(small(), f"HETERO:{devices}", options)
        assert loaded(compiled) is expected
        np.testing.assert_array_equal(compiled(X)[0], [[2, -2]])
    assert set(core.query_model(small(), f"HETERO:{devices}", {"CACHE_DIR": tmp_path})) >= {"product"}


def test_query_accepts_cache_dir(tmp_path):
    assert "product" in Core().query_model(small(), "TEMPLATE", {"CACHE_DIR": tmp_path})


def test_model_that_cannot_be_exported_is_logged(tmp_path, caplog):
    x = Parameter(Type.f32, [2], name="x")
    model = Model(ops.SequenceAt(ops.SequenceConstruct([x]), 0), [x], "listed")
    with caplog.at_level(logging.WARNING, "hetero"):
        compiled = Core().compile_model(model, "TEMPLATE", {"CACHE_DIR": tmp_path})
    assert (
        "'listed' is not cached: TEMPLATE failed to export the model: model 'listed' cannot be exported" in caplog.text
    )
    np.testing.assert_array_equal(compiled(X[0])[0], X[0])


@pytest.mark.parametrize("key", ["CACHE_DIRS", "PERF_COUNT"])
def test_properties_that_core_does_not_have(key):
    with pytest.raises(PropertyError, match="Core has no property"):
        Core().get_property(key)


def compile_in_a_process(device, folder, start, results):
    core = Core()
    start.wait()
    compiled = core.compile_model(zoo.path("magika"), device, {"CACHE_DIR": folder})
    name = core.get_property(device, "FULL_DEVICE_NAME")
    results.put((loaded(compiled), compiled(zoo.inputs("magika"))[0].tobytes(), name))


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES)
def test_concurrent_processes(device, tmp_path):
    """All processes get the same results. One complete file remains, which the next process loads."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    for count, may_compile in ((3, True), (1, False)):
        start = context.Barrier(count)
        arguments = (device, str(tmp_path), start, results)
        processes = [context.Process(target=compile_in_a_process, args=arguments) for _ in range(count)]
        for process in processes:
            process.start()
        outcomes = [results.get(timeout=300) for _ in processes]
        for process in processes:
            process.join()
        assert len({name for *_, name in outcomes}) == 1
        assert len({content for _, content, _ in outcomes}) == 1
        assert len(blobs(tmp_path)) == 1 and not list(tmp_path.glob(".*"))
        assert may_compile or outcomes[0][0]


NAMELESS = """
from hetero import Model, Parameter, Type, ops
from hetero.runtime.model_cache import model_hash
for _ in range(2):
    x = Parameter(Type.f32, [2], name="x")
    last = ops.Relu(ops.Exp(x), name="last")
    last.output(0).names = {"one", "two", "three"}
    print(model_hash(Model(last, [x])))
"""


@pytest.mark.slow
def test_hashes_are_equal_in_all_processes():
    """Generated names contain a number that depends on the process. They do not change the hash."""
    printed = [
        subprocess.run([sys.executable, "-c", NAMELESS], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True,
                       text=True, check=True).stdout.split()
        for seed in "12"
    ]  # fmt: skip
    assert len({line for lines in printed for line in lines}) == 1


def test_names_that_look_generated_count_if_somebody_chose_them(tmp_path):
    """A user pins by them, and exporters of ONNX files write them."""
    core = core_with(ONE=PickyPlugin(), TWO=PickyPlugin())

    def sources(name: str) -> list[Model | str]:
        x = Parameter(Type.f32, [1, 2], name="x")
        model = Model(ops.Relu(ops.Multiply(x, x, name=name), name="last"), [x], "small")
        serialize(model, tmp_path / f"{name}.xml")
        return [model, model.clone(), str(tmp_path / f"{name}.xml")]

    def devices(model: Model | str, **more: object) -> dict[str, str]:
        compiled = core.compile_model(model, "HETERO:ONE,TWO", {"CACHE_DIR": tmp_path, **more})
        return {operation.name: operation.device for operation in compiled.get_property("PLACEMENT_REPORT").operations}

    for model in sources("Multiply_12"):
        assert devices(model, AFFINITIES={"Multiply_12": "TWO"}) == {"Multiply_12": "TWO", "last": "ONE"}
        assert devices(model) == {"Multiply_12": "ONE", "last": "ONE"}
    for model in sources("Multiply_13"):
        with pytest.raises(DeviceError, match="the affinity 'Multiply_12' matches no operation"):
            devices(model, AFFINITIES={"Multiply_12": "TWO"})
        assert devices(model) == {"Multiply_13": "ONE", "last": "ONE"}


def test_generated_names_do_not_count_in_copies():
    def hashed() -> str:
        x = Parameter(Type.f32, [2], name="x")
        return model_hash(Model(ops.Relu(ops.Exp(x), name="last"), [x]).clone())

    assert hashed() == hashed()


class Table(Op):
    """An operation with an attribute of many elements."""

    inputs = ("x",)
    table = Attribute(np.asarray)

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


def test_hash_depends_on_each_element_of_an_attribute():
    def hashed(element: float) -> str:
        table = np.zeros(5000)
        table[2500] = element
        x = Parameter(Type.f32, [2], name="x")
        return model_hash(Model(Table(x, table, name="y"), [x]))

    assert hashed(0) == hashed(0) != hashed(1)


def filled(kind: Type, byte: int) -> np.ndarray:
    """Return two elements of a type whose bytes all have this value; for strings, that letter."""
    if kind is Type.string:
        return np.array([chr(64 + byte)] * 2)
    return np.full(2 * kind.size, byte, np.uint8).view(kind.to_dtype())


@pytest.mark.parametrize("kind", [kind for kind in Type if kind.is_static()], ids=str)
def test_hash_depends_on_constants_of_each_type(kind):
    results = [model_hash(Model(Constant(filled(kind, byte), name="c"), [])) for byte in (0, 1, 1)]
    assert results[0] != results[1] == results[2]


class WithTable(OfTheUser):
    table = Attribute(np.asarray)


def test_hash_depends_on_all_elements_of_large_arrays():
    x = Parameter(Type.f32, [2], name="x")
    tables = [np.zeros(5000), np.zeros(5000), np.eye(1, 5000, 2500)[0]]
    first, same, other = (model_hash(Model(WithTable(x, table=table, name="t"), [x])) for table in tables)
    assert first == same != other
