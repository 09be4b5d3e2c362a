"""Ten quantized models of the zoo on devices of hetero, against ONNX Runtime and OpenVINO, and in f32 on GPU.

They are made by ONNX Runtime's quantizer, or have FakeQuantize where NNCF puts it: on weights, per channel, and on what
convolutions and sums read, by its range. ``python -m tests.benchmarks.quantized [MODEL …]`` measures some of them.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import numpy as np
import onnx
from onnx import version_converter

import hetero
from hetero import Core, Model, ops
from hetero.graph import Output, constant_array
from hetero.passes import fold_batch_norm, fold_constants, split_batch_norm
from tests import zoo
from tests.benchmarks import batched_models, engines
from tests.benchmarks.engine_process import EngineError, EngineProcess
from tests.benchmarks.interleaved import SETTLING
from tests.zoo_inputs import Arrays

ROUNDS, TURN_SECONDS = 7, 0.15
LIBRARIES = ("ONNX Runtime", "OpenVINO")
ONEDNN, GPU, FLOATS = "HETERO:ONEDNN,TEMPLATE", "GPU", "GPU, f32"
# The first opset with scales per channel.
_OPSET = 13

# Takes the file of a network, inputs to calibrate by, and the path to write to without a suffix; returns the file.
Quantize = Callable[[Path, Arrays, Path], Path]


def _statically(file: Path, feeds: Arrays, target: Path, form: str, per_channel: bool) -> Path:
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

    class Calibration:
        def __init__(self) -> None:
            self._feeds = iter([feeds])

        def get_next(self) -> Arrays | None:
            return next(self._feeds, None)

    result = target.with_suffix(".onnx")
    quantize_static(
        file, result, Calibration(), quant_format=QuantFormat[form], per_channel=per_channel,
        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
    )  # fmt: skip
    return result


def _dynamically(file: Path, feeds: Arrays, target: Path) -> Path:
    from onnxruntime.quantization import quantize_dynamic

    result = target.with_suffix(".onnx")
    quantize_dynamic(file, result)
    return result


def _by_fake_quantize(file: Path, feeds: Arrays, target: Path) -> Path:
    model = Core().read_model(file)
    for transformation in (fold_constants, split_batch_norm, fold_batch_norm):
        transformation(model)
    readers = [node for node in model.get_ordered_ops() if isinstance(node, (ops.Convolution, ops.MatMul, ops.Add))]
    values = [value for node in readers for value in node.input_values() if not _is_bias(node, value)]
    activations = [value for value in dict.fromkeys(values) if constant_array(value) is None]
    extended = Model([*model.outputs, *activations], model.parameters)
    arrays = [*Core().compile_model(extended, "ONEDNN")(feeds).values()][len(model.outputs) :]
    for value, array in zip(activations, arrays):
        low, high = min(float(array.min()), 0.0), max(float(array.max()), 0.0)
        if low:
            high = max(-low, high) * 127 / 128
            low = -high * 128 / 127
        _insert(value, readers, low, high, 256)
    for value in dict.fromkeys(values):
        if (weights := constant_array(value)) is not None:
            largest = np.abs(weights).max(tuple(range(1, weights.ndim)), keepdims=True)
            _insert(value, readers, -largest, largest, 255)
    result = target.with_suffix(".xml")
    hetero.save_model(model, result, compress_to_fp16=False)
    return result


def _is_bias(node: hetero.Node, value: Output) -> bool:
    return isinstance(node, ops.Add) and any(constant_array(other) is not None for other in node.input_values())


def _insert(value: Output, readers: Sequence[hetero.Node], low: object, high: object, levels: int) -> None:
    """Let the readers of a value read it through a FakeQuantize."""
    targets = [target for target in value.get_target_inputs() if target.node in readers]
    limits = [np.asarray(limit, np.float32) for limit in (low, high)]
    quantized = ops.FakeQuantize(value, *limits, *limits, levels)
    for target in targets:
        if not _is_bias(target.node, value):
            target.replace_source_output(quantized.output(0))


MODELS: dict[str, tuple[str, Quantize]] = {
    "squeezenet, QDQ": ("squeezenet", partial(_statically, form="QDQ", per_channel=False)),
    "resnet50, QDQ": ("resnet50", partial(_statically, form="QDQ", per_channel=True)),
    "inception_v1, QDQ": ("inception_v1", partial(_statically, form="QDQ", per_channel=True)),
    "shufflenet, QOperator": ("shufflenet", partial(_statically, form="QOperator", per_channel=False)),
    "ocr_direction, QOperator": ("ocr_direction", partial(_statically, form="QOperator", per_channel=True)),
    "densenet121, QOperator": ("densenet121", partial(_statically, form="QOperator", per_channel=False)),
    "squeezenet, dynamic": ("squeezenet", _dynamically),
    "ocr_recognition, dynamic": ("ocr_recognition", _dynamically),
    "squeezenet, FakeQuantize": ("squeezenet", _by_fake_quantize),
    "resnet50, FakeQuantize": ("resnet50", _by_fake_quantize),
}


def compare(names: Sequence[str] = tuple(MODELS)) -> Iterator[list[str]]:
    """Yield the lines of each model: medians in ms, and ratios to the faster library, for GPU to its own f32."""
    for name in names:
        seconds, problems = measure(*MODELS[name])
        fastest = min((seconds[library] for library in LIBRARIES if library in seconds), default=None)
        peers = {ONEDNN: fastest, GPU: seconds.get(FLOATS)}
        lines = []
        for engine, median in seconds.items():
            peer = peers.get(engine)
            ratio = "" if peer is None else f"{median / peer:6.2f} x"
            lines.append(f"{name:26} {engine:24} {median * 1e3:10.2f} ms  {ratio}".rstrip())
        yield [*lines, *(f"{name:26} {engine:24} {problem}" for engine, problem in problems.items())]


def measure(network: str, quantize: Quantize) -> tuple[dict[str, float], dict[str, str]]:
    """Return the median seconds of the engines, which run in turn, and why others do not run the model."""
    feeds = batched_models.inputs(network, 1)
    times: dict[str, list[float]] = {}
    problems: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        floats = _prepared(network, Path(folder) / "floats.onnx")
        file = quantize(floats, feeds, Path(folder) / "quantized")
        loaders = {
            "ONNX Runtime": partial(engines.on_onnxruntime, file, feeds),
            "OpenVINO": partial(engines.on_openvino, file, feeds),
            ONEDNN: partial(engines.on_hetero, ONEDNN, file, feeds),
            GPU: partial(engines.on_hetero, GPU, file, feeds),
            FLOATS: partial(engines.on_hetero, GPU, floats, feeds),
        }
        if file.suffix != ".onnx":
            del loaders["ONNX Runtime"]
        running = {}
        for engine, load in loaders.items():
            try:
                running[engine] = stack.enter_context(EngineProcess(load))
            except EngineError as error:
                problems[engine] = str(error)
        for _ in range(ROUNDS):
            for engine, process in running.items():
                time.sleep(SETTLING)
                times.setdefault(engine, []).extend(process.run(TURN_SECONDS).seconds)
    return {engine: statistics.median(found) for engine, found in times.items()}, problems


def _prepared(network: str, target: Path) -> Path:
    """Write a network as ONNX Runtime's quantizer wants it: of a recent opset, with shapes, normalizations folded."""
    from onnxruntime.quantization.shape_inference import quant_pre_process

    model = onnx.load(zoo.path(network))
    if next(item.version for item in model.opset_import if item.domain in ("", "ai.onnx")) < _OPSET:
        model = version_converter.convert_version(model, _OPSET)
    # Of a model in memory it would write large weights to a file of their own, and not find it.
    recent = target.with_stem("recent")
    onnx.save(model, recent)
    quant_pre_process(recent, target, skip_symbolic_shape=True)
    return target


if __name__ == "__main__":
    for found in compare(sys.argv[1:] or tuple(MODELS)):
        print("\n".join(found), flush=True)
