"""Networks compiled for any shape against the same ones compiled for the one that runs.

The program of any shape has served another shape of its class before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hetero import Core, Model
from tests import zoo
from tests.benchmarks.interleaved import Comparison, interleave

DEVICE = "GPU"
ROUNDS = 15
# The shape that is measured, and the one before. One item has programs of its own.
SHAPES: tuple[tuple[str, zoo.Shape, zoo.Shape], ...] = (
    ("ocr_detection", (1, 3, 64, 96), (1, 3, 96, 160)),
    ("ocr_detection", (1, 3, 320, 480), (1, 3, 480, 320)),
    ("ocr_recognition", (1, 3, 48, 320), (1, 3, 48, 400)),
    ("ocr_direction", (2, 3, 48, 192), (3, 3, 48, 192)),
    ("magika", (2, 2048), (3, 2048)),
    ("basic_pitch", (2, 43844, 1), (3, 43844, 1)),
    # Their files have one item, but they take any number.
    ("squeezenet", (2, 3, 224, 224), (3, 3, 224, 224)),
    ("resnet50", (2, 3, 224, 224), (3, 3, 224, 224)),
)


def compare() -> Iterator[Comparison]:
    core = Core()
    for name, shape, before in SHAPES:
        model = core.read_model(zoo.path(name))
        if not model.is_dynamic():
            model.reshape([-1, *shape[1:]])
        fixed = model.clone()
        fixed.reshape({key: array.shape for key, array in zoo.inputs(name, 0, shape).items()})
        candidates = {
            "one shape": _inference(core, fixed, name, shape),
            "any shape": _inference(core, model, name, before, shape),
        }
        yield interleave(f"{name} {list(shape)}, {DEVICE}", candidates, ROUNDS)


def _inference(core: Core, model: Model, name: str, *shapes: zoo.Shape) -> Callable[[], object]:
    """Return a function that runs a model with the last one of these shapes, after it has run with all of them."""
    request = core.compile_model(model, DEVICE).create_infer_request()
    for shape in shapes:
        feeds = zoo.inputs(name, 0, shape)
        request.infer(feeds)
    return lambda: request.infer(feeds, share_inputs=True, share_outputs=True)
