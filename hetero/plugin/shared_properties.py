"""The properties that devices share."""

from __future__ import annotations

import logging

from hetero import properties as props
from hetero.core.types import Type
from hetero.properties import EVERY_VALUE, Property, PropertyTable
from hetero.properties.log import Level
from hetero.properties.values import element_type

_REDUCED = (Type.f16, Type.bf16)


def inference_precision(*reduced: Type) -> Property:
    """Return INFERENCE_PRECISION_HINT of a device that computes f32 models in these types too, f16 or bf16.

    The other one of them is accepted as a hint without effect.
    """
    accepted = element_type(Type.f32, *_REDUCED, Type.dynamic)
    ignored = tuple(reduced_type for reduced_type in _REDUCED if reduced_type not in reduced)
    return Property(props.hint.inference_precision, accepted, Type.dynamic, ignored=ignored)


def as_hint(property: Property) -> Property:
    """Return a property for devices without a use for it, which accept all of its values as a hint."""
    return Property(str(property), property.convert, property.default, accepts=property.accepts, ignored=EVERY_VALUE)


#: Properties of every device, with values from ``Plugin.property_table``. CACHING_PROPERTIES may be declared with more.
own_sample = (props.execution_devices, props.caching_properties)
#: Lines of text: for which shapes a compiled model has programs, and why; empty if all shapes are static.
model_programs = Property("MODEL_PROGRAMS", tuple, (), props.Mutability.RO)
#: Properties that the classes of the plugin API implement.
scheduling_properties = (
    props.range_for_async_infer_requests,
    props.range_for_streams,
    props.optimal_number_of_infer_requests,
    props.num_streams,
    props.hint.performance_mode,
    props.hint.num_requests,
    props.hint.model_priority,
    props.exclusive_async_requests,
    props.enable_profiling,
    props.log.level,
)
#: Properties of a device that computes in the model's types. Other devices replace INFERENCE_PRECISION_HINT, and
#: INFERENCE_NUM_THREADS if they have a use for it.
common_properties = (
    props.available_devices,
    props.device.full_name,
    props.device.architecture,
    props.device.type,
    props.device.capabilities,
    props.device.id,
    *scheduling_properties,
    inference_precision(),
    props.hint.execution_mode,
    as_hint(props.inference_num_threads),
    props.disabled_passes,
    props.disable_transformations,
)
#: Hints of OpenVINO that every device accepts. They have no effect on a device that does not list them itself.
hint_properties = (
    props.hint.enable_cpu_pinning,
    props.hint.enable_cpu_reservation,
    props.hint.enable_hyper_threading,
    props.hint.scheduling_core_type,
    props.hint.kv_cache_precision,
    props.hint.dynamic_quantization_group_size,
    props.hint.activations_scale_factor,
    as_hint(props.hint.allow_auto_batching),
    as_hint(props.auto_batch_timeout),
    props.cache_mode,
    props.compilation_num_threads,
    props.enable_mmap,
    props.enable_weightless,
    props.force_tbb_terminate,
    props.key_cache_precision,
    props.key_cache_group_size,
    props.value_cache_precision,
    props.value_cache_group_size,
    props.weights_path,
    props.workload_type,
    props.intel_cpu.denormals_optimization,
    props.intel_cpu.sparse_weights_decompression_rate,
    props.intel_cpu.tbb_partitioner,
)

_LOG_LEVELS = {
    Level.NO: logging.CRITICAL + 10,
    Level.ERR: logging.ERROR,
    Level.WARNING: logging.WARNING,
    Level.INFO: logging.INFO,
    Level.DEBUG: logging.DEBUG,
    Level.TRACE: logging.DEBUG - 5,
}


def decide_streams(properties: PropertyTable) -> None:
    """Set NUM_STREAMS if the user did not, and the optimal number of requests.

    LATENCY has one stream. THROUGHPUT, and NUM_STREAMS=AUTO, have the maximum of RANGE_FOR_STREAMS, but no more than
    PERFORMANCE_HINT_NUM_REQUESTS if that is set.
    """
    streams = properties.value_of(props.num_streams)
    least, most = properties.value_of(props.range_for_streams)
    if streams == props.streams.Num.AUTO or props.num_streams not in properties.explicit():
        is_latency = properties.value_of(props.hint.performance_mode) == props.hint.PerformanceMode.LATENCY
        streams = least if is_latency and streams != props.streams.Num.AUTO else most
        requests = properties.value_of(props.hint.num_requests)
        streams = min(streams, requests) if requests else streams
    decided = {
        props.num_streams: streams,
        props.optimal_number_of_infer_requests: streams,
        props.range_for_async_infer_requests: (1, max(streams, most), 1),
    }
    properties.set_internal({key: value for key, value in decided.items() if key in properties})


def decide_precision(properties: PropertyTable, fastest: Type) -> None:
    """Set INFERENCE_PRECISION_HINT to the device's fastest type if the user set EXECUTION_MODE_HINT to PERFORMANCE.

    As the default, PERFORMANCE allows another rounding of f32 only. A precision that the user set takes precedence.
    """
    given = properties.set_by_user()
    allowed = given.get(props.hint.execution_mode) == props.hint.ExecutionMode.PERFORMANCE
    if allowed and fastest is not Type.dynamic and props.hint.inference_precision not in given:
        properties.set_internal({props.hint.inference_precision: fastest})


def set_log_level(logger: logging.Logger, level: Level) -> None:
    """Set the level of a device's logger."""
    logger.setLevel(_LOG_LEVELS[level])


def full_name(device: str, device_id: str) -> str:
    """Return the name of a device: ``GPU.1``, or without an id that of its kind."""
    return f"{device}.{device_id}" if device_id else device
