"""Inference engines to compare. Each function loads a model file and returns a function that runs one inference.

The inputs are passed by name. The engines are imported when they are used, so that a process has only the one it needs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

Arrays = Mapping[str, np.ndarray]
Inference = Callable[[], object]
EXTENSIONS = Path(__file__).parents[2] / "configs" / "mediapipe_operators.py"
IS_TFLITE = ".tflite"


def on_hetero(device: str, file: Path, feeds: Arrays, precision: str = "") -> Inference:
    """Load a model on a device of hetero, in the device's default precision or another one."""
    from hetero import Core

    core = Core()
    core.add_extension(EXTENSIONS)
    model = core.read_model(file)
    if file.suffix == IS_TFLITE:
        model.reshape({name: array.shape for name, array in feeds.items()})
    options: dict = {"INFERENCE_PRECISION_HINT": precision} if precision else {}
    if device.startswith("HETERO:"):
        first = device.removeprefix("HETERO:").split(",")[0]
        options = {"DEVICE_PROPERTIES": {first: options}}
    request = core.compile_model(model, device, options).create_infer_request()
    return lambda: request.infer(feeds, share_inputs=True, share_outputs=True)


def on_intel_runtime(file: Path, feeds: Arrays) -> Inference:
    """Load a model on device GPU of Intel's OpenCL runtime.

    Raises LookupError without it. Its number depends on its speed, and so on the instruction set it is limited to.
    """
    from hetero import Core

    core = Core()
    for name in core.available_devices:
        if "(Intel(R) OpenCL)" in core.get_property(name, "FULL_DEVICE_NAME"):
            return on_hetero(name, file, feeds)
    raise LookupError("Intel's OpenCL runtime is not installed: pip install hetero-opencl[intel]")


def on_onnxruntime(file: Path, feeds: Arrays) -> Inference:
    import onnxruntime

    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, feeds)


def on_openvino(file: Path, feeds: Arrays, precision: str = "f32") -> Inference:
    """Load a model with OpenVINO, in f32 or with ``precision`` "" in its default: bf16 where the processor has it."""
    import openvino

    core = openvino.Core()
    model = core.read_model(file)
    if file.suffix == IS_TFLITE:
        model.reshape({name: array.shape for name, array in feeds.items()})
    options = {"INFERENCE_PRECISION_HINT": precision} if precision else {}
    request = core.compile_model(model, "CPU", options).create_infer_request()
    return lambda: request.infer(feeds, share_inputs=True, share_outputs=True)


def on_litert(file: Path, feeds: Arrays) -> Inference:
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(str(file), num_threads=os.cpu_count())
    indices = {details["name"]: details["index"] for details in interpreter.get_input_details()}
    for name, array in feeds.items():
        interpreter.resize_tensor_input(indices[name], array.shape)
    interpreter.allocate_tensors()
    outputs = [details["index"] for details in interpreter.get_output_details()]

    def infer() -> object:
        for name, array in feeds.items():
            interpreter.set_tensor(indices[name], array)
        interpreter.invoke()
        return [interpreter.get_tensor(index) for index in outputs]

    return infer


def on_tinygrad(device: str, file: Path, feeds: Arrays) -> Inference:
    """Load a model with tinygrad on the OpenCL device that hetero calls ``device``."""
    handles = _opencl_handles()
    os.environ["DEV"] = "CL"
    from ctypes import cast

    from tinygrad import Tensor, TinyJit
    from tinygrad.nn.onnx import OnnxRunner
    from tinygrad.runtime.autogen import opencl
    from tinygrad.runtime.ops_cl import CLDevice

    CLDevice.device_ids = (opencl.cl_device_id * 1)(cast(handles[device], opencl.cl_device_id))
    run = OnnxRunner(file)
    jitted = TinyJit(lambda **tensors: run(tensors), prune=True)

    def infer() -> object:
        tensors = {name: Tensor(array).realize() for name, array in feeds.items()}
        return [output.numpy() for output in jitted(**tensors).values()]

    infer()  # without the JIT, which captures the launches of the next inference
    infer()
    return infer


def _opencl_handles() -> dict[str, int]:
    """Return the handles of the OpenCL devices by hetero's names, and let tinygrad use the same OpenCL library.

    Otherwise tinygrad would only look for a library of the system, and only use the first platform.
    """
    import pyopencl
    from hetero_opencl.device.device import present_devices

    for library in Path(pyopencl.__file__).parent.glob(".libs/libOpenCL*"):
        os.environ["OPENCL_PATH"] = str(library)
    devices = present_devices().usable
    handles = {f"GPU.{index}": device.handle.int_ptr for index, device in enumerate(devices)}
    return handles | {"GPU": handles["GPU.0"]}
