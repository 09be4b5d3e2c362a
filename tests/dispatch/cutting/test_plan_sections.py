"""Export, import and caching of models compiled for HETERO."""

import functools
import itertools
import json
import logging
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetero import Core, Model, Parameter, Tensor, Type, ops, plugin, save_model
from hetero.dispatch.cost.benchmark import DeviceBenchmark
from hetero.dispatch.cost.database import CostDatabase, OperationTimes
from hetero.dispatch.devices import ListedDevice
from hetero.graph.rt_info import AFFINITY
from hetero.plugin.blobs.blob import pack_blob, read_blob
from hetero.system.errors import BlobError, DeviceError, NotSupportedError
from tests import zoo
from tests.devices import PickyPlugin, core_with

X = np.float32([[-1, 0, 0.5, 2]])


def on(device, node):
    node.rt_info[AFFINITY] = device
    return node


def chain() -> Model:
    x = Parameter(Type.f32, [-1, 4], name="x")
    x.output(0).names = {"x", "data"}
    exp = on("B", ops.Exp(on("A", ops.Relu(x, name="relu")), name="exp"))
    tanh = on("A", ops.Tanh(exp, name="tanh"))
    tanh.output(0).names = {"y"}
    return Model(tanh, [x], "chain")


def devices(*names):
    return core_with(**{name: PickyPlugin() for name in names})


def moved(compiled, device="HETERO:A,B", core=None):
    """Export a model, and import it with a Core that never saw it."""
    return (core or devices("A", "B")).import_model(compiled.export_model(), device)


def compiled_chain(**options):
    return devices("A", "B").compile_model(chain(), "HETERO:A,B", options)


def test_an_imported_model_equals_the_exported_one():
    compiled = compiled_chain()
    imported = moved(compiled)
    np.testing.assert_allclose(imported(X)["y"], np.tanh(np.exp(np.maximum(X, 0))), rtol=1e-6)
    for name in ("PLACEMENT_REPORT", "EXECUTION_DEVICES", "NETWORK_NAME"):
        assert imported.get_property(name) == compiled.get_property(name)
    assert imported.input().names == {"x", "data"} and imported.output().names == {"y"}
    assert str(imported.input().partial_shape) == "[?,4]"
    names = [[node.friendly_name for node in one.get_runtime_model().get_ordered_ops()] for one in (compiled, imported)]
    assert names[0] == names[1]
    np.testing.assert_array_equal(moved(imported)(X)[0], compiled(X)[0])


def test_inputs_constants_and_shared_values_as_outputs():
    x = Parameter(Type.f32, [2], name="x")
    relu = on("B", ops.Relu(x))
    constants = [ops.Constant(np.float32([7])), ops.Constant(np.array(["a", "\N{SNOWMAN}"])), ops.Constant(X > 0)]
    outputs = [x, *constants, relu, relu, on("A", ops.Exp(relu))]
    compiled = devices("A", "B").compile_model(Model(outputs, [x]), "HETERO:A,B")
    imported = moved(compiled)
    for value in ([1.0, -1.0], [-3.0, 2.0]):
        pairs = zip(compiled([np.float32(value)]).to_tuple(), imported([np.float32(value)]).to_tuple(), strict=True)
        for expected, found in pairs:
            np.testing.assert_array_equal(found, expected)


def test_branches_wait_for_each_other():
    x = Parameter(Type.f32, [4], name="x")
    left, right = on("A", ops.Relu(x)), on("B", ops.Exp(x))
    total = on("A", ops.Add(left, on("B", ops.Multiply(right, left))))
    imported = moved(devices("A", "B").compile_model(Model(total, [x]), "HETERO:A,B"))
    relu = np.maximum(X[0], 0)
    request = imported.create_infer_request()
    for _ in range(5):
        request.start_async([X[0]])
        request.wait()
        np.testing.assert_allclose(request.results[0], relu + np.exp(X[0]) * relu, rtol=1e-6)


def test_variables():
    x = Parameter(Type.f32, [4], name="x")
    total = on("B", ops.Add(ops.ReadValue(np.zeros(4, np.float32), "sum", name="read"), x))
    model = Model(total, [x], sinks=[on("A", ops.Assign(total, "sum"))])
    request = moved(devices("A", "B").compile_model(model, "HETERO:A,B")).create_infer_request()
    assert [float(request.infer([np.ones(4, np.float32)])[0][0]) for _ in range(3)] == [1, 2, 3]
    (state,) = request.query_state()
    state.state = Tensor(np.full(4, 10, np.float32))
    assert float(request.infer([np.ones(4, np.float32)])[0][0]) == 11


def test_options_are_kept_unless_given_again():
    compiled = compiled_chain(PERF_COUNT=True, DEVICE_PROPERTIES={"B": {"NUM_STREAMS": 3}})
    blob = compiled.export_model().getvalue()
    core = devices("A", "B")
    assert core.import_model(blob, "HETERO").get_property("PERF_COUNT") is True
    imported = core.import_model(blob, "HETERO:A,B", {"PERF_COUNT": False})
    assert imported.get_property("PERF_COUNT") is False
    assert imported.get_property("DEVICE_PROPERTIES") == {"B": {"NUM_STREAMS": 3}}
    request = imported.create_infer_request()
    request.infer(X)
    assert request.profiling_info == []


@pytest.mark.parametrize(
    ("present", "device", "message"),
    [
        (["A", "B"], "HETERO:A", "the exported model runs on A and B, but HETERO:A has no B: import it for HETERO:A,B"),
        (["A"], "HETERO:A", "the exported model runs on A and B, but there is no device B; there are "),
        (["A"], "HETERO", "the exported model runs on A and B, but there is no device B; there are "),
        (["A", "B"], "A", "the exported model is for device HETERO, not for A: import it there"),
    ],
)
def test_the_devices_must_be_the_same(present, device, message):
    with pytest.raises(BlobError) as caught:
        moved(compiled_chain(), device, devices(*present))
    assert str(caught.value).startswith(message)


def test_more_devices_than_needed_are_accepted():
    imported = moved(compiled_chain(), "HETERO:C,B,A", devices("A", "B", "C"))
    np.testing.assert_allclose(imported(X)[0], np.tanh(np.exp(np.maximum(X, 0))), rtol=1e-6)


class Renewed(PickyPlugin):
    def devices(self):
        return [plugin.Device(architecture="newer", capabilities=("EXPORT_IMPORT",))]


def test_a_device_of_another_architecture():
    with pytest.raises(BlobError, match="is for the architecture '.*', but B is 'newer'"):
        moved(compiled_chain(), core=core_with(A=PickyPlugin(), B=Renewed()))


class CannotExport(PickyPlugin):
    def compile_model(self, model, options, context=None):
        compiled = super().compile_model(model, options, context)
        compiled.export_sections = lambda: (_ for _ in ()).throw(NotSupportedError(f"{self.name} cannot export"))
        return compiled


def test_a_device_that_cannot_export_is_named(tmp_path, caplog):
    core = core_with(A=PickyPlugin(), B=CannotExport())
    compiled = core.compile_model(chain(), "HETERO:A,B")
    with pytest.raises(NotSupportedError, match="^B cannot export$"):
        compiled.export_model()
    with caplog.at_level(logging.WARNING):
        compiled = core.compile_model(chain(), "HETERO:A,B", {"CACHE_DIR": tmp_path})
    assert "'chain' is not cached: B cannot export" in caplog.text
    np.testing.assert_allclose(compiled(X)[0], np.tanh(np.exp(np.maximum(X, 0))), rtol=1e-6)


CHANGES = {
    "nothing": ({}, {}, True),
    "priorities": ({"device": "HETERO:B,A"}, {}, False),
    "affinities": ({"options": {"AFFINITIES": {"tanh": "A"}}}, {}, False),
    "an option of all": ({"options": {"PERF_COUNT": True}}, {}, False),
    "an option of one": ({"options": {"DEVICE_PROPERTIES": {"B": {"NUM_STREAMS": 2}}}}, {}, False),
    "an option that only devices have": ({"options": {"EXECUTION_MODE_HINT": "ACCURACY"}}, {}, False),
    "the architecture of one": ({}, {"B": Renewed()}, False),
}


@pytest.mark.parametrize(("given", "others", "expected"), CHANGES.values(), ids=CHANGES)
def test_the_cache_key_has_all_that_a_compilation_depends_on(given, others, expected, tmp_path):
    def compiled(core, device="HETERO:A,B", options=None):
        return core.compile_model(chain(), device, {"CACHE_DIR": tmp_path, **(options or {})})

    assert not compiled(devices("A", "B")).get_property("LOADED_FROM_CACHE")
    again = compiled(core_with(**{"A": PickyPlugin(), "B": PickyPlugin(), **others}), **given)
    assert again.get_property("LOADED_FROM_CACHE") is expected
    np.testing.assert_allclose(again(X)[0], np.tanh(np.exp(np.maximum(X, 0))), rtol=1e-6)


@pytest.mark.parametrize(("placement", "expected"), [("MIN_CUT", False), ("GREEDY", True)])
def test_calibration_is_in_the_cache_key_of_placement_by_cost(placement, expected, tmp_path):
    core, costs = devices("A", "B"), tmp_path / "costs"
    options = {"CACHE_DIR": tmp_path / "cache", "COSTS_DIR": str(costs), "PLACEMENT": placement}

    def is_cached() -> bool:
        return core.compile_model(chain(), "HETERO:A,B", options).get_property("LOADED_FROM_CACHE")

    measured = CostDatabase(costs)
    for name in ("A", "B"):
        device = ListedDevice(name, core.get_plugin(name), {})
        measured.write_benchmark(device, DeviceBenchmark())
    assert [is_cached(), is_cached()] == [False, True]
    measured.write_operation_times(device, "model", OperationTimes({"operation": 1.0}))
    assert is_cached() is expected


class Failing(PickyPlugin):
    """A device whose first inferences succeed and all others fail."""

    def __init__(self, good=2):
        super().__init__()
        self._good = good

    def compile_model(self, model, options, context=None):
        return self._spoiled(super().compile_model(model, options, context))

    def import_model(self, sections, options, context=None):
        return self._spoiled(super().import_model(sections, options, context))

    def _spoiled(self, compiled):
        create, inferences = compiled.create_sync_infer_request, itertools.count()

        def create_spoiled():
            request = create()
            start = request.start
            request.start = lambda: start() if next(inferences) < self._good else 1 / 0
            return request

        compiled.create_sync_infer_request = create_spoiled
        return compiled


@pytest.mark.parametrize("from_file", [False, True], ids=["model", "file"])
def test_a_cached_model_fails_over(from_file, tmp_path, caplog):
    def run(core, model):
        compiled = core.compile_model(model, "HETERO:A,B", {"CACHE_DIR": tmp_path / "cache"})
        request = compiled.create_infer_request()
        results = [request.infer(X)[0].copy() for _ in range(4)]
        for result in results:
            np.testing.assert_allclose(result, np.tanh(np.exp(np.maximum(X, 0))), rtol=1e-6)
        return compiled

    save_model(chain(), tmp_path / "model.xml")
    original = str(tmp_path / "model.xml") if from_file else chain()
    run(core_with(A=PickyPlugin(), B=Failing(good=9)), original)
    compiled = run(core_with(A=PickyPlugin(), B=Failing()), original)
    assert compiled.get_property("LOADED_FROM_CACHE")
    assert compiled.get_property("EXECUTION_DEVICES") == ["A"]
    assert "no longer on B: B failed in start" in caplog.text


def test_an_imported_model_does_not_fail_over():
    imported = moved(compiled_chain(), core=core_with(A=PickyPlugin(), B=Failing()))
    request = imported.create_infer_request()
    request.infer(X)
    request.infer(X)
    with pytest.raises(DeviceError, match="B failed in start"):
        request.infer(X)


@pytest.mark.slow
def test_models_of_the_zoo_survive_export_and_import():
    core = Core()
    compiled = core.compile_model(zoo.path("inception_v1"), "HETERO:GPU,TEMPLATE")
    imported = Core().import_model(compiled.export_model(), "HETERO:GPU,TEMPLATE")
    assert imported.get_property("PLACEMENT_REPORT") == compiled.get_property("PLACEMENT_REPORT")
    given = zoo.inputs("inception_v1")
    np.testing.assert_array_equal(imported(given)[0], compiled(given)[0])


def test_a_constant_that_ir_cannot_hold_is_not_exported():
    x = Parameter(Type.f32, [2, 3], name="x")
    parts = on("A", ops.SplitToSequence(x, np.int64(1), 0, False))
    compiled = devices("A", "B").compile_model(Model(on("B", ops.SequenceLength(parts)), [x]), "HETERO:A,B")
    with pytest.raises(BlobError, match="cannot be exported: .* outputs sequence.*, which IR files cannot hold"):
        compiled.export_model()


@functools.cache
def exported() -> bytes:
    return compiled_chain().export_model().getvalue()


def repacked(without=(), **changes) -> bytes:
    blob = read_blob(exported())
    sections = {name: bytes(changes.get(name.replace(" ", "_"), content)) for name, content in blob.sections.items()}
    sections = {name: content for name, content in sections.items() if name not in without}
    return b"".join(pack_blob(blob.device, blob.architecture, blob.package, blob.options, sections))


def plan(**changes) -> bytes:
    return json.dumps(json.loads(bytes(read_blob(exported()).sections["plan"])) | changes).encode()


def plan_with_report(**changes) -> bytes:
    return plan(report=json.loads(plan())["report"] | changes)


WRONG = {
    "no plan": (repacked(without=["plan"]), "has no section plan"),
    "no ports": (repacked(without=["ports"]), "has no section ports"),
    "no subgraph": (repacked(without=["subgraph 1"]), "has no section subgraph 1"),
    "no constants": (repacked(without=["constants xml"]), "has no section xml"),
    "a subgraph that is none": (repacked(subgraph_1=b"ABC"), "does not begin with"),
    "no JSON": (repacked(plan=b"{"), "plan of the exported model cannot be understood"),
    "nested": (repacked(plan=b"[" * 100_000), "plan of the exported model cannot be understood"),
    "devices of another kind": (repacked(plan=plan(devices=[1, 2, 3])), "plan .* cannot be understood"),
    "a device that is not there": (repacked(plan=plan(devices=["A", "NPU", "A"])), "there is no device NPU"),
    "a device string": (repacked(plan=plan(devices=["A", "HETERO:A", "A"])), "has no HETERO:A"),
    "places before the first": (repacked(plan=plan(places=[[0, [[-1, False, 0]]]])), "IndexError"),
    "places of nothing": (repacked(plan=plan(places=[])), "each port of a subgraph must have one value"),
    "one place twice": (
        repacked(plan=plan(places=[[0, [[0, False, 0], [0, False, 0]]], [1, []]])), "each port of a subgraph must",
    ),
    "a circle": (
        repacked(plan=plan(places=[
            [0, [[1, False, 0]]], [2, [[1, True, 0], [2, False, 0]]], [3, [[0, True, 0]]],
            [1, [[2, True, 0], [0, False, 0]]],
        ])), "is not written before it is read",
    ),
    "an output of nobody": (repacked(plan=plan(outputs=[9])), "IndexError"),
    "a report of something else": (repacked(plan=plan(report={})), "KeyError"),
    "a report of other devices": (repacked(plan=plan_with_report(devices=["C"])), "plan .* cannot be understood"),
    "a report of no devices": (repacked(plan=plan_with_report(devices=[])), "plan .* cannot be understood"),
    "a report of endless work": (
        repacked(plan=re.sub(rb'"work": [^,}]*', b'"work": 1' + b"0" * 400, plan())), "plan .* cannot be understood",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("content", "message"), WRONG.values(), ids=WRONG)
def test_a_damaged_plan_is_refused(content, message):
    with pytest.raises(BlobError, match=message) as caught:
        devices("A", "B").import_model(content, "HETERO:A,B")
    assert "\n" not in str(caught.value)


CORE = devices("A", "B")


@given(data=st.data())
def test_a_plan_changed_by_someone_who_knows_the_checksum(data):
    content = bytearray(read_blob(exported()).sections["plan"])
    for _ in range(data.draw(st.integers(1, 3))):
        begin = data.draw(st.integers(0, len(content)))
        content[begin : begin + data.draw(st.integers(0, 4))] = data.draw(
            st.sampled_from([b"", b"0", b"1", b"-1", b"null", b"true", b'"', b"[", b"]", b"9999999999"])
        )
    try:
        imported = CORE.import_model(repacked(plan=content), "HETERO:A,B")
    except (BlobError, DeviceError) as error:
        assert "\n" not in str(error)
        return
    assert imported(X)[0].shape == (1, 4)
