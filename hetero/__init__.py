"""hetero: run one neural network on several devices at once."""

from importlib import import_module
from typing import TYPE_CHECKING

from hetero import name_modules
from hetero.core.dimension import Dimension, Symbol
from hetero.core.layout import Layout
from hetero.core.ov_any import OVAny, RTMap
from hetero.core.shape import PartialShape
from hetero.core.static_shape import AxisSet, AxisVector, Coordinate, CoordinateDiff, Shape, Strides
from hetero.core.tensor import Tensor, tensor_from_file
from hetero.core.tensor_vector import TensorVector
from hetero.core.types import Type
from hetero.graph import (
    Constant,
    ConstOutput,
    DiscreteTypeInfo,
    Input,
    Model,
    Node,
    Op,
    Output,
    Parameter,
    get_batch,
    set_batch,
)
from hetero.graph.upper_layers import provide
from hetero.opset_modules import make_modules
from hetero.system.errors import HeteroError

__all__ = [
    "AsyncInferQueue", "AxisSet", "AxisVector", "CompiledModel", "ConstOutput", "Constant", "Coordinate",
    "CoordinateDiff", "Core", "Dimension", "DiscreteTypeInfo", "Extension", "FrontEndManager", "HeteroError",
    "InferRequest", "Input", "Layout", "Model", "Node", "OVAny", "Op", "OpExtension", "Output", "Parameter",
    "PartialShape", "ProfilingInfo", "RTMap", "RemoteContext", "RemoteTensor", "Shape", "Strides", "Symbol", "Tensor",
    "TensorVector", "Type", "compile_model", "compress_weights", "convert_model", "get_batch",
    "layout_helpers", "ops", "preprocess", "properties", "save_model", "serialize", "set_batch",
    "shutdown", "tensor_from_file",
]  # fmt: skip

provide("operations", lambda: import_module("hetero.ops"))
provide("evaluation", lambda: import_module("hetero.reference.program"))
provide("runtime", lambda: import_module("hetero.runtime"))
provide("writers", lambda: import_module("hetero.frontend.ir"))
# Make hetero.opset1 … hetero.opset17 importable as modules.
globals().update(make_modules())
# Make hetero.utils, hetero.tools … importable as modules.
globals().update(name_modules.make_modules())

if TYPE_CHECKING:
    from hetero import layout_helpers, ops, preprocess, properties
    from hetero.frontend import Extension, OpExtension
    from hetero.frontend.ir import save_model, serialize
    from hetero.passes.compression.weight_compression import compress_weights
    from hetero.plugin import ProfilingInfo, RemoteContext, RemoteTensor
    from hetero.runtime import (
        AsyncInferQueue,
        CompiledModel,
        Core,
        FrontEndManager,
        InferRequest,
        compile_model,
        shutdown,
    )
    from hetero.runtime.convert import convert_model


_LAZY_MODULES = {
    "exceptions", "frontend", "helpers", "layout_helpers", "op", "ops", "package_utils", "passes", "preprocess",
    "properties", "torch", "utils",
}  # fmt: skip
_LAZY_ATTRIBUTES = {
    **dict.fromkeys(("AsyncInferQueue", "CompiledModel", "Core", "FrontEndManager"), "hetero.runtime"),
    **dict.fromkeys(("InferRequest", "compile_model", "shutdown"), "hetero.runtime"),
    **dict.fromkeys(("ProfilingInfo", "RemoteContext", "RemoteTensor"), "hetero.plugin"),
    **dict.fromkeys(("Extension", "OpExtension"), "hetero.frontend"),
    **dict.fromkeys(("Version", "get_version"), "hetero.runtime.version"),
    "compress_weights": "hetero.passes.compression.weight_compression",
    "convert_model": "hetero.runtime.convert",
    **dict.fromkeys(("save_model", "serialize"), "hetero.frontend.ir"),
}


def __getattr__(name: str) -> object:
    """Import operations, runtime and writers on first use, so that ``import hetero`` stays fast."""
    if name == "__version__":
        return import_module("hetero.runtime.version").get_version()
    if name in _LAZY_MODULES:
        return import_module(f"hetero.{name}")
    if name not in _LAZY_ATTRIBUTES:
        raise AttributeError(f"module 'hetero' has no attribute '{name}'")
    return getattr(import_module(_LAZY_ATTRIBUTES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY_MODULES, *_LAZY_ATTRIBUTES})
