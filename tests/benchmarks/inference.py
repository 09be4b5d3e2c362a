"""One inference of each model of the zoo on hetero's devices, beside ONNX Runtime and OpenVINO on the same cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hetero import Core
from tests import zoo
from tests.benchmarks.interleaved import Comparison, interleave

DEVICES = ("HETERO:GPU,TEMPLATE", "GPU", "TEMPLATE")
ROUNDS = 5
# It cannot read its If, whose branches differ in rank.
NOT_FOR_OPENVINO = {"voice_activity"}


def compare() -> Iterator[Comparison]:
    core = Core()
    for name in zoo.ONNX:
        feeds = zoo.inputs(name)
        candidates = {"onnxruntime": _onnxruntime(name, feeds)}
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


def _openvino(name: str, feeds: zoo.Arrays) -> Callable[[], object]:
    import openvino

    # Full precision, as the others compute: where the processor has bf16, OpenVINO would use it.
    request = openvino.compile_model(zoo.path(name), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
    return lambda: request.infer(feeds, share_inputs=True, share_outputs=True)
