"""The plugin API: all that the author of a device needs besides the graph and its operations."""

from hetero.plugin.blobs.blob import Section
from hetero.plugin.blobs.model_sections import model_sections, models_in
from hetero.plugin.compiled_model import CompiledModel
from hetero.plugin.device import Device, Rank
from hetero.plugin.loading.hookspecs import hookimpl
from hetero.plugin.loading.registry import Registry, installed_plugins
from hetero.plugin.memory_plan import plan_memory
from hetero.plugin.plugin import Plugin
from hetero.plugin.prepared_model import PreparedModel
from hetero.plugin.query import QueryResult, get_supported_nodes, unsupported
from hetero.plugin.remote import Region, RemoteContext, RemoteMemory, RemoteTensor, SharedTensor, overlap
from hetero.plugin.requests.async_infer_request import AsyncInferRequest
from hetero.plugin.requests.executors import Executor, Executors
from hetero.plugin.requests.profiling import ExecutionTimes, ProfilingInfo, Timer
from hetero.plugin.requests.sync_infer_request import STAGES, SyncInferRequest, check_shape, check_tensor
from hetero.plugin.requests.variable_state import VariableState
from hetero.plugin.runtime_model import ExecutedStep, make_runtime_model
from hetero.plugin.shared_properties import (
    common_properties,
    full_name,
    hint_properties,
    inference_precision,
    scheduling_properties,
)

__all__ = [
    "STAGES", "AsyncInferRequest", "CompiledModel", "Device", "ExecutedStep", "ExecutionTimes", "Executor", "Executors",
    "Plugin", "PreparedModel", "ProfilingInfo", "QueryResult", "Rank", "Region", "Registry", "RemoteContext",
    "RemoteMemory", "RemoteTensor", "Section", "SharedTensor", "SyncInferRequest", "Timer", "VariableState",
    "check_shape", "check_tensor", "common_properties", "full_name", "get_supported_nodes", "hint_properties",
    "hookimpl", "inference_precision", "installed_plugins", "make_runtime_model", "model_sections", "models_in",
    "overlap", "plan_memory", "scheduling_properties", "unsupported",
]  # fmt: skip
