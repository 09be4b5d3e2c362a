"""One inference of each model of the zoo on hetero's devices, against ONNX Runtime or LiteRT, and OpenVINO.

``python -m tests.benchmarks.inference [MODEL …]`` measures some of the models.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from hetero import Core
from tests import zoo
from tests.benchmarks.interleaved import Comparison, interleave

EXTENSIONS = Path(__file__).parents[2] / "configs" / "mediapipe_operators.py"
DEVICES = ("HETERO:GPU,TEMPLATE", "GPU", "TEMPLATE")
ROUNDS = 5
# OpenVINO cannot read an If whose branches differ in rank, resource variables, and a custom operator.
NOT_FOR_OPENVINO = {
    "voice_activity", "alexa", "hey_jarvis", "hey_mycroft", "okay_nabu", "selfie_segmentation",
    "selfie_segmentation_wide",
}  # fmt: skip
# LiteRT has no kernel for their custom operator.
NOT_FOR_LITERT = {"selfie_segmentation", "selfie_segmentation_wide"}


def compare(names: Sequence[str] = ()) -> Iterator[Comparison]:
    core = Core()
    core.add_extension(EXTENSIONS)
    for name in names or zoo.MODELS:
        feeds = zoo.inputs(name)
        candidates = {}
        if name in zoo.ONNX:
            candidates["onnxruntime"] = _onnxruntime(name, feeds)
        elif name not in NOT_FOR_LITERT:
            candidates["litert"] = _litert(name, feeds)
        if name not in NOT_FOR_OPENVINO:
            candidates["openvino"] = _openvino(name, feeds)
        candidates.update((device, _hetero(core, name, device, feeds)) for device in DEVICES)
        yield interleave(name, candidates, ROUNDS)


def _hetero(core: Core, name: str, device: str, feeds: zoo.Arrays) -> Callable[[], object]:
    request = core.compile_model(zoo.path(name), device).create_infer_request()
    return lambda: request.infer(feeds, share_inputs=True, share_outputs=True)


def _onnxruntime(name: str, feeds: zoo.Arrays) -> Callable[[], object]:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(zoo.path(name)), providers=["CPUExecutionProvider"])
    return lambda: session.run(None, feeds)


def _litert(name: str, feeds: zoo.Arrays) -> Callable[[], object]:
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(str(zoo.path(name)), num_threads=os.cpu_count())
    interpreter.allocate_tensors()
    input_indices = {details["name"]: details["index"] for details in interpreter.get_input_details()}
    output_indices = [details["index"] for details in interpreter.get_output_details()]

    def infer() -> object:
        for key, array in feeds.items():
            interpreter.set_tensor(input_indices[key], array)
        interpreter.invoke()
        return [interpreter.get_tensor(index) for index in output_indices]

    return infer


def _openvino(name: str, feeds: zoo.Arrays) -> Callable[[], object]:
    import openvino

    # f32 like the others. By default OpenVINO uses bf16 on processors that have it.
    request = openvino.compile_model(zoo.path(name), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
    return lambda: request.infer(feeds, share_inputs=True, share_outputs=True)


if __name__ == "__main__":
    for comparison in compare(sys.argv[1:]):
        print("\n".join(comparison.lines()), flush=True)
