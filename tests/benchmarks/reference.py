"""One inference of each model of the zoo on TEMPLATE, against onnx's ReferenceEvaluator; both use numpy."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator

from hetero import Core
from tests import zoo
from tests.benchmarks.interleaved import Comparison, interleave

ROUNDS = 3


def compare() -> Iterator[list[str]]:
    """Yield the lines of each model, and finally the geometric mean of the speedup of TEMPLATE."""
    core = Core()
    ratios = []
    for name in zoo.ONNX:
        comparison = _compare(core, name)
        yield comparison.lines()
        if "onnx.reference" in comparison.medians:
            ratios.append(comparison.medians["onnx.reference"] / comparison.medians["TEMPLATE"])
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    yield [f"TEMPLATE is {mean:.1f} times as fast as onnx.reference, geometric mean of {len(ratios)} models"]


def _compare(core: Core, name: str) -> Comparison:
    from onnx.reference import ReferenceEvaluator

    feeds = zoo.inputs(name)
    request = core.compile_model(zoo.path(name), "TEMPLATE").create_infer_request()
    candidates = {"TEMPLATE": lambda: request.infer(feeds, share_inputs=True, share_outputs=True)}
    evaluator = ReferenceEvaluator(str(zoo.path(name)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # from numpy in the evaluator
            evaluator.run(None, feeds)
        candidates["onnx.reference"] = lambda: evaluator.run(None, feeds)
    except Exception as error:
        print(f"onnx.reference cannot run {name}: {type(error).__name__}: {error}")
    return interleave(name, candidates, ROUNDS)
