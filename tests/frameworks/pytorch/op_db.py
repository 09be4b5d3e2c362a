"""torch's table of operators as the oracle: each sample is exported to core ATen, and read and run on TEMPLATE.

``python -m tests.frameworks.pytorch.op_db [--raw] [OPERATOR …]`` prints how many samples agree with torch, and why
others do not. With --raw programs are read from a file as torch exports them, without decompositions.
"""

from __future__ import annotations

import io
import itertools
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree

import hetero
from hetero.frontend.pytorch import PytorchFrontEnd
from hetero.frontend.pytorch.exported import to_array

# Samples of each operator, evenly from all of them: the whole table takes hours to export.
SAMPLES = 6
_KINDS = (torch.float32, torch.int64, torch.bool)
# Operators whose results are not defined, or random.
_UNDEFINED = (
    "bernoulli",
    "empty",
    "rand",
    "multinomial",
    "normal",
    "cauchy",
    "exponential",
    "geometric",
    "uniform",
    "log_normal",
    "new_empty",
    "nn.functional.dropout",
    "nn.functional.alpha_dropout",
    "nn.functional.feature_alpha_dropout",
    "nn.functional.rrelu",
    "nn.functional.fractional_max_pool",
)
AGREES, NOT_EXPORTED = "agrees", "not exported"


class Outcome(NamedTuple):
    """What became of a sample: AGREES, NOT_EXPORTED, or the reason why it differs.

    ``others``: the operators of its program that are not of core ATen.
    """

    operator: str
    reason: str
    detail: str = ""
    others: tuple[str, ...] = ()


class _Call(torch.nn.Module):
    """A call of an operator, as a function of its tensors."""

    def __init__(self, function: Any, leaves: Sequence[Any], structure: Any) -> None:
        super().__init__()
        self._function, self._leaves, self._structure = function, leaves, structure

    def forward(self, *tensors: torch.Tensor) -> Any:
        given = iter(tensors)
        leaves = [next(given) if isinstance(leaf, torch.Tensor) else leaf for leaf in self._leaves]
        values, arguments, keywords = _pytree.tree_unflatten(leaves, self._structure)
        return _pytree.tree_leaves(self._function(values, *arguments, **keywords))


def outcomes(name: str, is_raw: bool = False) -> list[Outcome]:
    """Run the samples of all operators of a name."""
    warnings.simplefilter("ignore")
    return [outcome for entry in op_db if entry.name == name for outcome in _outcomes_of(entry, is_raw)]


def _outcomes_of(entry: Any, is_raw: bool) -> Iterator[Outcome]:
    label = entry.full_name
    kind = next((kind for kind in _KINDS if kind in entry.dtypes), None)
    if kind is None or entry.name.startswith(_UNDEFINED):
        return
    torch.manual_seed(0)
    samples = list(entry.sample_inputs("cpu", kind, requires_grad=False))
    for sample in samples[:: -(-len(samples) // SAMPLES)]:
        try:
            program, tensors, expected = _exported(entry.op, sample, is_raw)
        except Exception as error:
            yield Outcome(label, NOT_EXPORTED, f"{type(error).__name__}: {error}"[:200])
        else:
            yield Outcome(
                label, *_compared(program, tensors, expected, is_raw), () if is_raw else _other_operators(program)
            )


def _exported(function: Any, sample: Any, is_raw: bool) -> tuple[Any, list[Any], list[Any]]:
    """Return the program of a call, its inputs and its outputs."""
    leaves, structure = _pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    module = _Call(function, leaves, structure)
    expected = _pytree.tree_leaves(module(*(one.clone() for one in tensors)))
    program = torch.export.export(module, tuple(tensors), strict=False)
    return program if is_raw else program.run_decompositions(), tensors, expected


def _compared(program: Any, tensors: list[Any], expected: list[Any], is_raw: bool) -> tuple[str, str]:
    """Return the reason and the detail of an outcome."""
    try:
        if is_raw:
            file = io.BytesIO()
            torch.export.save(program, file)
        model = PytorchFrontEnd().convert(file.getvalue() if is_raw else program)
        feeds = [to_array(one) for one in tensors]
        found = hetero.Core().compile_model(model, "TEMPLATE")(feeds).to_tuple() if model.results else ()
    except Exception as error:
        return type(error).__name__, str(error)[:300]
    expected = [one for one in expected if one is not None]
    for array, value in itertools.zip_longest(found, expected):
        if array is None or value is None:
            return "other outputs", f"{len(found)} instead of {len(expected)}"
        is_tensor = isinstance(value, torch.Tensor)
        wanted = to_array(value.resolve_conj().resolve_neg()) if is_tensor else np.array(value, array.dtype)
        if array.shape != wanted.shape or array.dtype != wanted.dtype:
            return "other type or shape", f"{array.dtype}{array.shape} instead of {wanted.dtype}{wanted.shape}"
        one, other = (each if each.dtype.kind in "biu" else each.astype(np.float64) for each in (array, wanted))
        if not np.allclose(one, other, rtol=1e-4, atol=1e-4, equal_nan=True):
            with np.errstate(all="ignore"):
                return "differs", f"by {np.nanmax(abs(one.astype(np.float64) - other))}"
    return AGREES, ""


def _other_operators(program: torch.export.ExportedProgram) -> tuple[str, ...]:
    """Return the operators of a program that are not of core ATen, without checks of its inputs."""
    targets = {node.target for node in program.graph.nodes if node.op == "call_function"}
    overloads = [target for target in targets if isinstance(target, torch._ops.OpOverload)]
    others = [str(one) for one in overloads if torch.Tag.core not in one.tags and one.namespace == "aten"]
    return tuple(sorted(name for name in others if not name.startswith(("aten._assert", "aten.sym_constrain"))))


def report(names: Sequence[str], is_raw: bool = False) -> tuple[int, int]:
    """Print the outcomes of operators, and return how many samples agree of those exported to core ATen alone."""
    # A fork of a process with torch's threads may wait for them forever.
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        found = [
            outcome for several in pool.map(partial(outcomes, is_raw=is_raw), names, chunksize=1) for outcome in several
        ]
    exported = [outcome for outcome in found if outcome.reason != NOT_EXPORTED]
    failed = [outcome for outcome in exported if outcome.reason != AGREES]
    for (operator, reason), count in sorted(Counter((one.operator, one.reason) for one in failed).items()):
        first = next(one for one in failed if (one.operator, one.reason) == (operator, reason))
        mark = "*" if first.others else " "
        print(f"{count:4}{mark} {operator:40} {reason}: {first.detail}")
    core = [outcome for outcome in exported if not outcome.others]
    agreed = sum(outcome.reason == AGREES for outcome in core)
    others = [outcome for outcome in exported if outcome.others]
    print(f"{agreed} of {len(core)} samples agree ({agreed / max(len(core), 1):.1%})")
    print(f"{sum(one.reason == AGREES for one in others)} of {len(others)} more, which have operators that are not of "
          f"core ATen (*); torch does not export {len(found) - len(exported)}")  # fmt: skip
    return agreed, len(core)


if __name__ == "__main__":
    given = [name for name in sys.argv[1:] if name != "--raw"]
    report(given or sorted({entry.name for entry in op_db}), "--raw" in sys.argv)
