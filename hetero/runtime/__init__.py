"""The user API: Core, CompiledModel, InferRequest, AsyncInferQueue and FrontEndManager."""

from hetero.runtime.async_infer_queue import AsyncInferQueue
from hetero.runtime.compiled_model import CompiledModel
from hetero.runtime.core import Core, compile_model, shutdown
from hetero.runtime.front_end_manager import FrontEndManager
from hetero.runtime.infer_request import InferRequest

__all__ = ["AsyncInferQueue", "CompiledModel", "Core", "FrontEndManager", "InferRequest", "compile_model", "shutdown"]
