"""Property keys and values that programs set, and what comes back."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tests.openvino_programs._errors import kind_of_error

DATA = np.array([-1, 2], np.float32)


def options(ov):
    """Return properties that ordinary programs set, with the values that they read again."""
    props = ov.properties
    hint = props.hint
    return {
        hint.enable_cpu_pinning: True, hint.enable_hyper_threading: False,
        hint.scheduling_core_type: hint.SchedulingCoreType.ANY_CORE, hint.kv_cache_precision: ov.Type.f32,
        hint.dynamic_quantization_group_size: 32, hint.inference_precision: ov.Type.f32,
        hint.execution_mode: hint.ExecutionMode.ACCURACY, hint.performance_mode: hint.PerformanceMode.THROUGHPUT,
        hint.num_requests: 2, props.enable_profiling: True,
        props.intel_cpu.denormals_optimization: False, props.intel_cpu.tbb_partitioner: "STATIC",
    }  # fmt: skip


def compile_relu(ov, config):
    data = ov.opset13.parameter([2], ov.Type.f32)
    return ov.compile_model(ov.Model([ov.opset13.relu(data)], [data], "m"), "AUTO", config)


def program_hints(ov):
    return [compile_relu(ov, {key: value})(DATA)[0] for key, value in options(ov).items()]


def program_hints_as_text(ov):
    config = {
        "ENABLE_CPU_PINNING": "NO", "ENABLE_HYPER_THREADING": "YES", "SCHEDULING_CORE_TYPE": "PCORE_ONLY",
        "CACHE_MODE": "OPTIMIZE_SIZE", "ENABLE_MMAP": "NO", "KV_CACHE_PRECISION": "u8", "LOG_LEVEL": "LOG_ERROR",
        "DYNAMIC_QUANTIZATION_GROUP_SIZE": "32", "NUM_STREAMS": "1", "PERF_COUNT": "NO",
    }  # fmt: skip
    return compile_relu(ov, config)(DATA)[0]


def program_reduced_precision(ov):
    return [
        compile_relu(ov, {"INFERENCE_PRECISION_HINT": value})(DATA)[0]
        for value in ("f16", "bf16", ov.Type.f16, ov.Type.bf16, "f32", ov.Type.f32)
    ]


def program_pairs(ov):
    props = ov.properties
    pairs = [
        props.cache_dir("x"), props.enable_profiling(True), props.inference_num_threads(3), props.enable_mmap(False),
        props.hint.enable_cpu_pinning(True), props.hint.num_requests(4), props.device.id("1"),
        props.hint.dynamic_quantization_group_size(8), props.intel_cpu.sparse_weights_decompression_rate(0.5),
    ]  # fmt: skip
    return [(key, value.value) for key, value in pairs], [str(key) for key in options(ov)]


def program_pairs_of_enumerations(ov):
    props = ov.properties
    values = [
        props.hint.performance_mode(props.hint.PerformanceMode.LATENCY)[1].value,
        props.hint.scheduling_core_type(props.hint.SchedulingCoreType.PCORE_ONLY)[1].value,
        props.cache_mode(props.CacheMode.OPTIMIZE_SPEED)[1].value, props.log.level(props.log.Level.INFO)[1].value,
        props.workload_type(props.WorkloadType.EFFICIENT)[1].value, props.CompatibilityCheck.SUPPORTED,
    ]  # fmt: skip
    return [(value.name, value.value, int(value), str(value), repr(value)) for value in values]


def program_core_properties(ov):
    core, props = ov.Core(), ov.properties
    core.set_property({props.enable_mmap: False})
    core.set_property(props.enable_mmap(True))
    core.set_property(property=props.cache_dir(""))
    core.set_property("AUTO", {props.hint.performance_mode: props.hint.PerformanceMode.THROUGHPUT})
    core.set_property("AUTO", props.hint.num_requests(3))
    mode = core.get_property("AUTO", props.hint.performance_mode)
    return [
        core.get_property(props.enable_mmap), core.get_property("CACHE_DIR"), mode.name,
        mode == props.hint.PerformanceMode.THROUGHPUT, core.get_property("AUTO", "PERFORMANCE_HINT_NUM_REQUESTS"),
        kind_of_error(lambda: core.get_property("AUTO", "NO_SUCH_KEY")),
    ]  # fmt: skip


def program_streams(ov):
    number = ov.properties.streams.Num
    return number(3).to_integer(), number().to_integer(), number.AUTO.to_integer(), number.NUMA.to_integer()


def program_numbers_of_streams(ov):
    core, x = ov.Core(), ov.opset8.parameter([2], np.float32, name="x")
    model, number = ov.Model([ov.opset8.relu(x)], [x], "m"), ov.properties.streams.Num
    for value in ("AUTO", -1, "-1", number.AUTO, number.NUMA):
        assert core.compile_model(model, "CPU", {"NUM_STREAMS": value}).get_property("NUM_STREAMS") > 0
    return [
        core.compile_model(model, "CPU", {"NUM_STREAMS": value}).get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")
        for value in (0, "0", number(0), 1, "1", number(1))
    ]


def program_properties_for_any_device(ov):
    config = {
        "ALLOW_AUTO_BATCHING": "NO", "AUTO_BATCH_TIMEOUT": "5", "WEIGHTS_PATH": "no_such.bin", "ENABLE_MMAP": False,
        "INFERENCE_NUM_THREADS": "1", "ENABLE_CPU_PINNING": "0", "ENABLE_CPU_RESERVATION": "NO",
        "ENABLE_HYPER_THREADING": "1", "CACHE_MODE": "OPTIMIZE_SIZE", "EXCLUSIVE_ASYNC_REQUESTS": "NO",
        "ENABLE_WEIGHTLESS": False, "FORCE_TBB_TERMINATE": "NO",
    }  # fmt: skip
    core, x = ov.Core(), ov.opset8.parameter([2], np.float32, name="x")
    model = ov.Model([ov.opset8.relu(x)], [x], "m")
    core.set_property("CPU", {"ENABLE_CPU_PINNING": "0", "ENABLE_HYPER_THREADING": "1"})
    results = [core.compile_model(model, "CPU", {key: value})(DATA)[0] for key, value in config.items()]
    flags = core.get_property("CPU", "SUPPORTED_PROPERTIES")
    return [
        *results, core.get_property("CPU", "ENABLE_CPU_PINNING"),
        *(str(flags[key]) for key in ("WEIGHTS_PATH", "FULL_DEVICE_NAME", "INFERENCE_NUM_THREADS")),
    ]  # fmt: skip


def program_cache_folder_of_a_device(ov):
    core, device = ov.Core(), "CPU"
    with TemporaryDirectory() as folder:
        core.set_property(device, {"CACHE_DIR": folder, "PERF_COUNT": True})
        found = [core.get_property(device, "CACHE_DIR") == folder, core.get_property(device, "PERF_COUNT")]
        core.compile_model(folder_model(ov), device)
        found.append(len(list(Path(folder).iterdir())) > 0)
        core.set_property(device, {ov.properties.cache_dir: ""})
        return [*found, core.get_property(device, "CACHE_DIR")]


def folder_model(ov):
    x = ov.opset8.parameter([2], np.float32, name="x")
    return ov.Model([ov.opset8.relu(x)], [x], "cached")
