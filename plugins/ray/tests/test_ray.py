"""Devices RAY.0 and RAY.1: what the conformance kit does not ask about."""

import gc
import importlib
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import ray
from hetero_ray import cluster as ray_cluster
from hetero_ray.remote import OBJECT_REF
from hetero_ray.worker_client import WorkerClient

from hetero import AsyncInferQueue, Constant, Core, Model, Op, Parameter, Type, ops
from hetero.system.errors import DeviceError, PropertyError, TensorError, UnsupportedOperationError

# They start a cluster.
pytestmark = pytest.mark.slow

X = np.random.default_rng(0).standard_normal([4, 8]).astype(np.float32)


# A module that Python imports when it starts.
WITHOUT_HETERO = """
import sys

class Without:
    def find_spec(self, name, path=None, target=None):
        if name == "hetero" or name.startswith("hetero."):
            raise ModuleNotFoundError(f"No module named '{name}'")

sys.meta_path.insert(0, Without())
"""


class Cube(Op):
    """A custom operation, which the nodes get by value: they cannot import this file."""

    input_names = ("x",)

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

    def evaluate(self, outputs, inputs):
        outputs[0].copy_from(inputs[0].data ** 3)
        return True


class Local:
    """An object of a module that only this process has."""

    def __reduce__(self):
        return importlib.import_module, ("none_such",)


class Unsent(Cube):
    """An operation that needs such an object."""

    local = Local()


def chain(length=4, weights=(8, 8)):
    """Return a model of products and activations, and a function that computes it by numpy."""
    generator = np.random.default_rng(1)
    matrices = [generator.standard_normal(weights).astype(np.float32) / 8 for _ in range(length)]
    x = Parameter(Type.f32, [-1, weights[0]], name="x")
    value = x
    for index, matrix in enumerate(matrices):
        value = ops.Relu(ops.MatMul(value, ops.Constant(matrix), False, False, name=f"m{index}"), name=f"r{index}")

    def compute(array):
        for matrix in matrices:
            array = np.maximum(array @ matrix, 0)
        return array

    return Model(value, [x], "chain"), compute


def worker_pid(core, device):
    plugin, options = core.resolve_device(device)
    return ray.get(plugin.device(options).client._actor.__ray_call__.remote(lambda worker: os.getpid()))


@pytest.fixture
def by_value():
    """Let Ray send the classes of this file by value, as it does for those of a program."""
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    ray.cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def test_nodes_are_devices(core):
    assert [name for name in core.available_devices if name.startswith("RAY")] == ["RAY.0", "RAY.1"]
    assert core.get_property("RAY.1", "FULL_DEVICE_NAME").startswith("numpy reference on Ray node ")
    assert core.get_property("RAY.1", "RAY_DEVICE") == "TEMPLATE"
    assert worker_pid(core, "RAY.0") != worker_pid(core, "RAY.1")


def test_properties_are_those_of_the_nodes_device(core):
    """INFERENCE_NUM_THREADS is a property of TEMPLATE, and HETERO passes it on too."""
    model, compute = chain()
    for device in ("RAY.0", "HETERO:RAY.0"):
        compiled = core.compile_model(model, device, {"INFERENCE_NUM_THREADS": 1, "PERF_COUNT": True})
        request = compiled.create_infer_request()
        np.testing.assert_allclose(request.infer(X)[0], compute(X), rtol=1e-4, atol=1e-5)
        names = {info.node_name for info in request.profiling_info if info.exec_type == "numpy"}
        assert {"m0", "m3"} <= names
        for value in (False, True):
            compiled.set_property({"PERF_COUNT": value})
            request.infer(X)
            assert ("m0" in {info.node_name for info in request.profiling_info}) == value
    with pytest.raises(PropertyError, match="INFERENCE_NUM_THREADS of RAY cannot be 'many'"):
        core.compile_model(model, "RAY.0", {"INFERENCE_NUM_THREADS": "many"})


def test_execution_devices_caching_properties_and_the_model_cache(core, tmp_path):
    assert core.get_property("RAY.1", "EXECUTION_DEVICES") == ["RAY.1"]
    assert {"DEVICE_ARCHITECTURE", "FULL_DEVICE_NAME"} <= core.get_property("RAY.1", "CACHING_PROPERTIES").keys()
    model, compute = chain()
    for is_cached in (False, True):
        compiled = core.compile_model(model, "RAY.1", {"CACHE_DIR": str(tmp_path)})
        assert compiled.get_property("LOADED_FROM_CACHE") is is_cached
        assert compiled.get_property("EXECUTION_DEVICES") == ["RAY.1"]
        np.testing.assert_allclose(compiled(X)[0], compute(X), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["NPU", "RAY.1"])
def test_a_device_that_the_node_lacks(core, name):
    with pytest.raises(PropertyError, match=f"property RAY_DEVICE of RAY.0 cannot be '{name}': "):
        core.compile_model(chain()[0], "RAY.0", {"RAY_DEVICE": name})


def test_a_node_may_use_several_devices(core):
    model, compute = chain()
    compiled = core.compile_model(model, "RAY.1", {"RAY_DEVICE": "HETERO:TEMPLATE"})
    np.testing.assert_allclose(compiled(X)[0], compute(X), rtol=1e-4, atol=1e-5)


def test_a_model_over_two_nodes(core):
    """The values between the nodes stay in Ray's object store."""
    model, compute = chain(6)
    compiled = core.compile_model(model, "HETERO:RAY.0,RAY.1", {"PLACEMENT": "PIPELINE"})
    report = compiled.get_property("PLACEMENT_REPORT")
    assert {s.device for s in report.subgraphs} == {"RAY.0", "RAY.1"}
    assert [str(b.memory) for b in report.boundaries] == ["in shared device memory"]
    for rows in (4, 1, 4):
        np.testing.assert_allclose(compiled(X[:rows])[0], compute(X[:rows]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("device", ["RAY.0", "HETERO:RAY.0,TEMPLATE", "HETERO:GPU,RAY.1"])
def test_boundaries_of_any_length(core, device):
    """Lengths of a name reach the devices at both sides of a cut; two that contradict each other are refused."""
    x, y = (Parameter(Type.f32, "[batch,words=1..64,8]", name=name) for name in "xy")
    added = ops.Add(ops.Relu(x, name="relu"), ops.Exp(y, name="exp"), name="add")
    product = ops.MatMul(ops.Softmax(added, 1, name="softmax"), np.eye(8, dtype=np.float32), False, False)
    model = Model([product], [x, y])
    reference = core.compile_model(model, "TEMPLATE")
    if ":" in device:
        first, second = device.removeprefix("HETERO:").split(",")
        for node in model.get_ordered_ops():
            node.rt_info["affinity"] = first if node.friendly_name in ("relu", "softmax") else second
    request = core.compile_model(model, device).create_infer_request()
    generator = np.random.default_rng(0)
    for batch, words in ((1, 5), (2, 33), (1, 64), (3, 1)):
        inputs = [generator.standard_normal((batch, words, 8), np.float32) for _ in "xy"]
        np.testing.assert_allclose(request.infer(inputs)[0], reference(inputs)[0], atol=1e-5)
        with pytest.raises(TensorError, match="'words' is one length, but it is"):
            request.infer([inputs[0], np.ones((batch, words % 64 + 1, 8), np.float32)])


def test_a_request_waits_at_the_node(core):
    """While the node runs an inference for each stream, the next one is sent."""
    compiled = core.compile_model(chain()[0], "RAY.0", {"NUM_STREAMS": 2})
    assert compiled.get_property("NUM_STREAMS") == 2
    assert compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS") == 3


def test_weights_are_sent_once(core, monkeypatch):
    """Two queries and two compilations need each large weight; the object store gets it once."""
    put = []
    monkeypatch.setattr(ray, "put", lambda value, real=ray.put: put.append(value.nbytes) or real(value))
    model, compute = chain(4, (301, 301))
    compiled = core.compile_model(model, "HETERO:RAY.0,RAY.1", {"PLACEMENT": "PIPELINE"})
    # Only those of this model: a thread of an earlier test may still compile another one, with weights of other sizes.
    assert put.count(301 * 301 * 4) == 4
    x = np.ones([1, 301], np.float32)
    np.testing.assert_allclose(compiled(x)[0], compute(x), rtol=1e-3, atol=1e-4)


def test_an_object_of_the_user_as_input(core):
    model, compute = chain()
    request = core.compile_model(model, "RAY.1").create_infer_request()
    context = core.get_default_context("RAY.1")
    tensor = context.create_tensor(Type.f32, X.shape, {OBJECT_REF: ray.put(X)})
    np.testing.assert_allclose(request.infer([tensor])[0], compute(X), rtol=1e-4, atol=1e-5)
    with pytest.raises(PropertyError, match="a remote tensor of RAY.1 has no property NONE: it takes RAY_OBJECT_REF"):
        context.create_tensor(Type.f32, X.shape, {"NONE": 1})


def test_smaller_contents_leave_the_rest_of_a_memory(core):
    tensor = core.get_default_context("RAY.0").create_tensor(Type.f32, X.shape)
    tensor.copy_from(X)
    rows = type(tensor)(tensor, [0, 0], [2, 8])
    request = core.compile_model(Model(ops.Negative(p := Parameter(Type.f32, [2, 8])), [p]), "RAY.0")
    request = request.create_infer_request()
    request.set_output_tensor(rows)
    request.infer(X[:2])
    found = np.empty_like(X)
    tensor.copy_to(found)
    np.testing.assert_array_equal(found, np.concatenate([-X[:2], X[2:]]))


def test_custom_operations_are_sent(core, by_value):
    x = Parameter(Type.f32, [4, 8])
    model = Model(Cube(ops.Negative(x)), [x])
    core.query_model(model, "RAY.1")
    plugin, options = core.resolve_device("RAY.1")
    ray.get(plugin.device(options).client._actor.__ray_call__.remote(lambda worker: gc.collect()))
    compiled = core.compile_model(model, "RAY.1")
    np.testing.assert_allclose(compiled(X)[0], -(X**3), rtol=1e-6)


def test_operations_that_a_node_cannot_define_run_elsewhere(core, by_value):
    x = Parameter(Type.f32, [4, 8])
    model = Model(ops.Relu(Unsent(ops.Negative(x, name="before"), name="cube"), name="after"), [x])
    found = core.query_model(model, "RAY.0")
    assert {"before", "after"} <= found.keys()
    assert found.refused["cube"] == "RAY.0 cannot define Unsent: ModuleNotFoundError: No module named 'none_such'"
    with pytest.raises(UnsupportedOperationError, match="RAY.0 cannot run Unsent 'cube'"):
        core.compile_model(model, "RAY.0")
    compiled = core.compile_model(model, "HETERO:RAY.0,TEMPLATE")
    placed = {o.name: o.device for o in compiled.get_property("PLACEMENT_REPORT").operations}
    assert (placed["before"], placed["cube"], placed["after"]) == ("RAY.0", "TEMPLATE", "RAY.0")
    np.testing.assert_allclose(compiled(X)[0], np.maximum((-X) ** 3, 0), rtol=1e-6)


def test_unused_models_and_requests_are_released(core):
    plugin, options = core.resolve_device("RAY.0")
    actor = plugin.device(options).client._actor

    def count():
        return ray.get(actor.__ray_call__.remote(lambda w: (len(w._models), len(w._models[number].requests))))

    model, _ = chain()
    kept = core.compile_model(model, "RAY.0")
    number = kept._compiled.number
    kept(X)
    for _ in range(3):
        core.compile_model(model, "RAY.0")(X)
        kept.create_infer_request().infer(X)
    deadline = time.monotonic() + 10
    while count() != (1, 1) and time.monotonic() < deadline:
        gc.collect()
        kept(X)
    assert count() == (1, 1)


def test_a_timeout_is_a_failure_of_the_device(core, by_value, caplog):
    class Slow(Cube):
        def evaluate(self, outputs, inputs):
            if "RAY_JOB_ID" in os.environ:  # on the node only
                time.sleep(2)
            return super().evaluate(outputs, inputs)

    x = Parameter(Type.f32, [4, 8])
    model = Model(Slow(x, name="slow"), [x])
    with pytest.raises(DeviceError, match="RAY.0 did not answer in time"):
        core.compile_model(model, "RAY.0", {"RAY_TIMEOUT": 100})(X)
    compiled = core.compile_model(model, "HETERO:RAY.0,TEMPLATE", {"RAY_TIMEOUT": 100})
    np.testing.assert_allclose(compiled(X)[0], X**3, rtol=1e-6)
    assert "RAY.0 did not answer in time" in caplog.text


def test_a_killed_worker_during_1000_requests(core, caplog):
    """The first node's worker is killed, then the second one's: TEMPLATE takes over, and every result is right."""
    model, compute = chain()
    compiled = core.compile_model(model, "HETERO:RAY.0,RAY.1,TEMPLATE", {"PERFORMANCE_HINT": "THROUGHPUT"})
    queue, results = AsyncInferQueue(compiled, 8), {}
    queue.set_callback(lambda request, index: results.update({index: request.results[0].copy()}))
    rows = np.random.default_rng(2).standard_normal([1000, 1, 8]).astype(np.float32)
    for index, row in enumerate(rows):
        if index in (300, 600):
            os.kill(worker_pid(core, f"RAY.{index // 300 - 1}"), signal.SIGKILL)
        queue.start_async(row, index)
    queue.wait_all()
    assert len(results) == 1000
    for index, row in enumerate(rows):
        np.testing.assert_allclose(results[index], compute(row), rtol=1e-4, atol=1e-5)
    assert "RAY.0 is lost" in caplog.text and "RAY.1 is lost" in caplog.text
    np.testing.assert_allclose(core.compile_model(model, "RAY.0")(X)[0], compute(X), rtol=1e-4, atol=1e-5)


def test_a_lost_node(cluster, new_node, caplog):
    node = new_node()
    core, (model, compute) = Core(), chain()
    devices = core.get_plugin("RAY").devices()
    name = next(d.name for d in devices if d.placement.key.endswith(node.node_id))
    alone, compiled = core.compile_model(model, name), core.compile_model(model, f"HETERO:{name},TEMPLATE")
    assert compiled(X)[0].shape == alone(X)[0].shape == (4, 8)
    cluster.remove_node(node)
    np.testing.assert_allclose(compiled(X)[0], compute(X), rtol=1e-4, atol=1e-5)
    assert f"{name} is lost" in caplog.text
    for act in (lambda: alone(X), lambda: core.compile_model(model, name)):
        with pytest.raises(DeviceError, match=f"{name} is lost"):
            act()


def test_a_subgraph_that_only_assigns_a_variable(core):
    x = Parameter(Type.f32, [2], name="x")
    product = ops.Multiply(ops.ReadValue(Constant(np.float32([5, 6])), "last"), x, name="product")
    product.rt_info["affinity"] = "TEMPLATE"
    model = Model(product, [x], sinks=[ops.Assign(product, "last")])
    request = core.compile_model(model, "HETERO:RAY.0,TEMPLATE").create_infer_request()
    for expected in ([10, 18], [20, 54]):
        assert request.infer(np.float32([2, 3]))[0].tolist() == expected


def test_bundles_of_a_placement_group(cluster, core, monkeypatch):
    """With HETERO_RAY_PLACEMENT_GROUP, the devices are the bundles of a placement group."""
    group = ray.util.placement_group([{"CPU": 0.1}] * 3, name="mine", strategy="SPREAD")
    ray.get(group.ready())
    monkeypatch.setenv(ray_cluster.PLACEMENT_GROUP, "mine")
    model, compute = chain()
    other = Core()
    assert [name for name in other.available_devices if name.startswith("RAY")] == ["RAY.0", "RAY.1", "RAY.2"]
    np.testing.assert_allclose(other.compile_model(model, "RAY.2")(X)[0], compute(X), rtol=1e-4, atol=1e-5)
    monkeypatch.setenv(ray_cluster.PLACEMENT_GROUP, "none such")
    assert "HETERO_RAY_PLACEMENT_GROUP names no placement group" in Core().unavailable_devices["RAY"]
    ray.util.remove_placement_group(group)


def test_a_node_with_another_version(core, monkeypatch):
    monkeypatch.setattr("hetero_ray.worker_client.hetero_version", lambda: "99.0")
    placement = core.get_plugin("RAY").devices()[0].placement
    with pytest.raises(
        DeviceError, match=r"RAY.0 at [\d.]+ has hetero .*, but this is hetero 99.0: pip install hetero"
    ):
        WorkerClient("RAY.0", placement)


def test_a_node_without_hetero(new_node, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_HETERO, encoding="utf-8")
    node, core = new_node(env_vars={"PYTHONPATH": str(tmp_path)}), Core()
    device = next(d for d in core.get_plugin("RAY").devices() if d.placement.key.endswith(node.node_id))
    with pytest.raises(DeviceError, match=rf"{device.name} at [\d.]+ has no hetero-ray, but this is hetero "):
        core.compile_model(chain()[0], device.name)


def test_a_closed_connection(cluster):
    """Ray itself would start a cluster then."""
    core, (model, compute) = Core(), chain()
    compiled = core.compile_model(model, "RAY.0")
    ray.shutdown()
    with pytest.raises(DeviceError, match="the connection to the Ray cluster was closed"):
        compiled(X)
    np.testing.assert_allclose(Core().compile_model(model, "RAY.0")(X)[0], compute(X), rtol=1e-4, atol=1e-5)


def test_a_forked_process(core):
    model, _ = chain()
    core.compile_model(model, "RAY.0")
    pid = os.fork()
    if pid == 0:
        works = "forked" in Core().unavailable_devices.get("RAY", "")
        os._exit(0 if works else 1)
    assert os.waitpid(pid, 0)[1] == 0


def run_python(code, **environment):
    variables = {key: value for key, value in os.environ.items() if not key.startswith(("RAY_", "HETERO_RAY"))}
    result = subprocess.run(
        [sys.executable, "-c", code], env={**variables, **environment}, capture_output=True, text=True, check=True
    )
    return result.stdout.splitlines()


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("", "no Ray cluster: start one with `ray start --head`, or set RAY_ADDRESS"),
        ("local", "no Ray cluster: start one with `ray start --head`, or set RAY_ADDRESS"),
        ("127.0.0.1:9", "no Ray cluster answers at 127.0.0.1:9 "),
        ("nonsense", "RAY_ADDRESS cannot be 'nonsense': it takes the address of a cluster"),
    ],
)
def test_without_a_cluster(address, reason, tmp_path):
    """The device is unavailable at once, and ray is not even imported."""
    code = "import sys, hetero; print(hetero.Core().unavailable_devices['RAY']); print('ray' in sys.modules)"
    found, imported = run_python(code, RAY_ADDRESS=address, RAY_TMPDIR=str(tmp_path))
    assert found.startswith(reason) and imported == "False"


def test_without_ray(tmp_path):
    code = (
        "import importlib.util as util\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name, *more: None if name == 'ray' else find(name, *more)\n"
        "import hetero; print(hetero.Core().unavailable_devices['RAY'])"
    )
    assert run_python(code) == ["the package ray is missing: pip install ray"]


def test_a_broken_ray(cluster):
    code = (
        "import builtins\n"
        "real = builtins.__import__\n"
        "def load(name, *more, **options):\n"
        "    if name == 'ray':\n"
        "        raise OSError('_raylet.so: file too short')\n"
        "    return real(name, *more, **options)\n"
        "builtins.__import__ = load\n"
        "import hetero; print(hetero.Core().unavailable_devices['RAY'])"
    )
    (found,) = run_python(code, RAY_ADDRESS=cluster.address)
    assert "_raylet.so: file too short" in found and found.endswith("pip install --upgrade --force-reinstall ray")
