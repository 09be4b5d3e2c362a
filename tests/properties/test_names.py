"""Properties have the same names, keys and values as in the openvino package."""

import enum
import json
from operator import attrgetter

import numpy as np
import openvino
import openvino.properties as theirs
import openvino.properties.intel_gpu.hint
import pytest

import hetero
from hetero import properties as ours
from hetero.properties import Property, hint
from hetero.system.errors import PropertyError

MODULES = ["", "hint", "device", "streams", "log", "intel_auto", "intel_cpu", "intel_gpu", "intel_gpu.hint"]
# Properties that OpenVINO has in C++ only, and those of hetero.
NOT_IN_PYTHON = {
    "caching_properties", "details", "disable_transformations", "disabled_passes", "exclusive_async_requests",
    "tuning_file",
}  # fmt: skip


def module_of(package, name):
    return attrgetter(name)(package) if name else package


PROPERTIES = [
    pytest.param(value, module_of(theirs, module), name, id=f"{module}.{name}".lstrip("."))
    for module in MODULES
    for name, value in vars(module_of(ours, module)).items()
    if isinstance(value, Property) and name not in NOT_IN_PYTHON
]
ENUMS = [
    pytest.param(value, getattr(module_of(theirs, module), name), id=f"{module}.{name}")
    for module in MODULES[1:]
    for name, value in vars(module_of(ours, module)).items()
    if isinstance(value, enum.EnumMeta) and value.__module__ == f"hetero.properties.{module}"
]


@pytest.mark.parametrize(("ours", "module", "name"), PROPERTIES)
def test_keys(ours, module, name):
    theirs = getattr(module, name)
    assert ours == theirs and ours() == theirs()
    assert type(ours()) is str


@pytest.mark.parametrize(("ours", "theirs"), ENUMS)
def test_values_of_enumerations(ours, theirs):
    names = [name for name in dir(theirs) if not name.startswith("_") and name not in ("name", "value")]
    members = {name: getattr(theirs, name) for name in names}
    # For some enumerations OpenVINO converts only sets to text.
    wrapped = {name: {m} if ours is hint.ModelDistributionPolicy else m for name, m in members.items()}
    texts = {name: m if isinstance(m, str) else openvino.OVAny(m).astype(str) for name, m in wrapped.items()}
    assert {name: hetero.OVAny(member).astype(str) for name, member in ours.__members__.items()} == texts


@pytest.mark.parametrize(("ours", "theirs"), [one for one in ENUMS if hasattr(one.values[1], "__members__")])
def test_names_and_numbers_of_enumerations(ours, theirs):
    def facts(kind):
        return {
            name: (member.name, member.value, int(member), str(member), repr(member), f"{member}")
            for name, member in kind.__members__.items()
        }

    assert facts(ours) == facts(theirs)


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (ours.cache_dir("x"), theirs.cache_dir("x")),
        (ours.enable_profiling("YES"), theirs.enable_profiling(True)),
        (ours.inference_num_threads("3"), theirs.inference_num_threads(3)),
        (ours.streams.num(4), theirs.streams.num(4)),
        (ours.streams.num("AUTO"), theirs.streams.num(theirs.streams.Num.AUTO)),
        (ours.hint.num_requests(2), theirs.hint.num_requests(2)),
        (
            ours.hint.performance_mode(ours.hint.PerformanceMode.THROUGHPUT),
            theirs.hint.performance_mode(theirs.hint.PerformanceMode.THROUGHPUT),
        ),
        (ours.hint.inference_precision("f32"), theirs.hint.inference_precision(openvino.Type.f32)),
        (ours.hint.inference_precision(np.float16), theirs.hint.inference_precision(openvino.Type.f16)),
        (ours.hint.model_priority("high"), theirs.hint.model_priority(theirs.hint.Priority.HIGH)),
        (ours.log.level("info"), theirs.log.level(theirs.log.Level.INFO)),
        (ours.log.level("LOG_TRACE"), theirs.log.level(theirs.log.Level.TRACE)),
    ],
)
def test_pairs_of_key_and_value(pair, expected):
    key, value = pair
    theirs = expected[1].value
    if isinstance(theirs, (bool, int, str)):
        assert (key, value.value) == (expected[0], theirs)
    else:
        assert (key, value.astype(str)) == (expected[0], expected[1].astype(str))


@pytest.mark.parametrize("value", ["pipeline_parallel", {"PIPELINE_PARALLEL"}, ["PIPELINE_PARALLEL"]])
def test_a_set_of_values(value):
    policy = ours.hint.ModelDistributionPolicy
    assert ours.hint.model_distribution_policy(value) == ("MODEL_DISTRIBUTION_POLICY", {policy.PIPELINE_PARALLEL})
    both = ours.hint.model_distribution_policy("TENSOR_PARALLEL, PIPELINE_PARALLEL")[1]
    assert both == set(policy)


@pytest.mark.parametrize("value, expected", [("1", True), ("0", False), (1, True), (0, False), ("yes", True)])
def test_booleans(value, expected):
    assert ours.enable_profiling(value) == ("PERF_COUNT", expected)


def test_names_of_devices():
    assert ours.device.priorities("A", "B") == ("MULTI_DEVICE_PRIORITIES", ("A", "B"))
    assert ours.device.properties({"A": {"NUM_STREAMS": 2}}) == ("DEVICE_PROPERTIES", {"A": {"NUM_STREAMS": 2}})


@pytest.mark.parametrize(
    ("property", "value", "message"),
    [
        (ours.enable_profiling, "MAYBE", "PERF_COUNT cannot be 'MAYBE': it takes YES or NO"),
        (ours.streams.num, -3, "NUM_STREAMS cannot be -3: it takes an integer of at least 0, or AUTO"),
        (ours.streams.num, 1.5, "NUM_STREAMS cannot be 1.5: it takes an integer"),
        (ours.streams.num, float("inf"), "NUM_STREAMS cannot be inf: it takes an integer"),
        (ours.streams.num, None, "NUM_STREAMS cannot be None: it takes an integer"),
        (ours.inference_num_threads, -1, "INFERENCE_NUM_THREADS cannot be -1: it takes an integer of at least 0"),
        (ours.inference_num_threads, True, "INFERENCE_NUM_THREADS cannot be True: it takes an integer"),
        (ours.hint.performance_mode, "FAST", "PERFORMANCE_HINT cannot be 'FAST': it takes one of LATENCY, THROUGHPUT"),
        (ours.hint.inference_precision, "i8", "INFERENCE_PRECISION_HINT cannot be 'i8': it takes one of f64, f32"),
        (ours.hint.inference_precision, "x8", "INFERENCE_PRECISION_HINT cannot be 'x8': it takes one of f64, f32"),
        (ours.device.properties, "A", "DEVICE_PROPERTIES cannot be 'A': it takes a mapping"),
        (ours.device.full_name, "x", "FULL_DEVICE_NAME is read-only"),
    ],
)
def test_bad_values(property, value, message):
    with pytest.raises(PropertyError, match=message):
        property(value)


def test_members_are_strings():
    mode = ours.hint.PerformanceMode.THROUGHPUT
    assert mode == "THROUGHPUT" and {mode: 1}["THROUGHPUT"] == 1 and json.dumps([mode]) == '["THROUGHPUT"]'
    assert ours.hint.Priority.DEFAULT is ours.hint.Priority.MEDIUM
    assert ours.streams.Num.AUTO.to_integer() == -1 and ours.streams.Num(3) == 3
