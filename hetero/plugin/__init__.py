"""The plugin API: with compiler, core, graph, ops, properties, passes, reference, system.errors all a plugin imports.

What is exported here is a contract, see docs/plugins.md; the modules below are not.
"""

from hetero.plugin.blobs.blob import Section, hetero_version
from hetero.plugin.blobs.model_sections import (
    ir_fault,
    ir_in,
    ir_sections,
    model_sections,
    models_in,
    ports_in,
    ports_section,
    section_of,
)
from hetero.plugin.compiled_model import CompiledModel
from hetero.plugin.device import Device, Rank
from hetero.plugin.loading.hookspecs import hookimpl
from hetero.plugin.loading.registry import Registry, installed_plugins
from hetero.plugin.memory_plan import plan_memory
from hetero.plugin.plugin import Plugin
from hetero.plugin.prepared_model import Ports, PreparedModel
from hetero.plugin.query import QueryResult, get_supported_nodes, unsupported
from hetero.plugin.remote import Region, RemoteContext, RemoteMemory, RemoteTensor, SharedTensor, overlap
from hetero.plugin.requests.async_infer_request import AsyncInferRequest
from hetero.plugin.requests.executors import Executor, Executors
from hetero.plugin.requests.profiling import STAGE, ExecutionTimes, ProfilingInfo, Timer
from hetero.plugin.requests.sync_infer_request import STAGES, SyncInferRequest, check_shape, check_tensor
from hetero.plugin.requests.variable_state import VariableState
from hetero.plugin.runtime_model import MICROSECOND, ExecutedStep, make_runtime_model
from hetero.plugin.shared_properties import (
    common_properties,
    full_name,
    hint_properties,
    inference_precision,
    model_programs,
    scheduling_properties,
)
from hetero.system.allocation import check_allocation
from hetero.system.cache_folder import cache_folder, has_space, write_cached
from hetero.system.files import atomic_write
from hetero.system.fork import ForkGuard, renew_after_fork
from hetero.system.mapped_file import release_pages
from hetero.system.messages import escaped, get_logger
from hetero.system.tracing import span

__all__ = [
    "MICROSECOND", "STAGE", "STAGES", "AsyncInferRequest", "CompiledModel", "Device", "ExecutedStep",
    "ExecutionTimes", "Executor", "Executors", "ForkGuard", "Plugin", "Ports", "PreparedModel", "ProfilingInfo",
    "QueryResult", "Rank", "Region", "Registry", "RemoteContext", "RemoteMemory", "RemoteTensor", "Section",
    "SharedTensor", "SyncInferRequest", "Timer", "VariableState", "atomic_write", "cache_folder", "check_allocation",
    "check_shape", "check_tensor", "common_properties", "escaped", "full_name", "get_logger", "get_supported_nodes",
    "has_space", "hetero_version", "hint_properties", "hookimpl", "inference_precision", "installed_plugins",
    "ir_fault", "ir_in", "ir_sections", "make_runtime_model", "model_programs", "model_sections", "models_in",
    "overlap", "plan_memory", "ports_in", "ports_section", "release_pages", "renew_after_fork",
    "scheduling_properties", "section_of", "span", "unsupported", "write_cached",
]  # fmt: skip
