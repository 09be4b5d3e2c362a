"""What a user holds: Core, CompiledModel, InferRequest, AsyncInferQueue."""

from hetero.runtime.async_infer_queue import AsyncInferQueue
from hetero.runtime.compiled_model import CompiledModel
from hetero.runtime.core import Core
from hetero.runtime.infer_request import InferRequest

__all__ = ["AsyncInferQueue", "CompiledModel", "Core", "InferRequest"]
