"""Makes the cases of tests/frontend/pytorch: small exported programs, with inputs and torch's outputs.

``python -m tests.frameworks.pytorch.make_cases FOLDER``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.export import Dim
from torchao.quantization import Int8DynamicActivationInt8WeightConfig, Int8WeightOnlyConfig

from tests.frameworks.pytorch import case_modules
from tests.frameworks.pytorch.case_functions import FUNCTIONS


class Case(NamedTuple):
    """A module, the arguments of its calls (several for a module with a state), and dynamic shapes."""

    module: nn.Module
    calls: list[tuple[torch.Tensor, ...]]
    dynamic_shapes: Any = None


class Function(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)


def cases() -> dict[str, Case]:
    torch.manual_seed(0)
    batch, words = Dim("batch", min=1, max=8), Dim("words", min=2, max=16)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2).eval()
    matrix = torch.rand(3, 4) * 4 - 2
    return {
        "convolutions": Case(case_modules.Network().eval(), [(torch.rand(2, 3, 16, 16),)]),
        "dynamic_batch": Case(
            case_modules.Network().eval(), [(torch.rand(2, 3, 16, 16),), (torch.rand(3, 3, 16, 16),)], ({0: batch},)
        ),
        "encoder": Case(encoder, [(torch.rand(2, 5, 16),)]),
        "dynamic_words": Case(
            nn.Sequential(nn.Embedding(20, 16), nn.LayerNorm(16), nn.Linear(16, 4), nn.GELU()),
            [(torch.randint(20, (1, 5)),), (torch.randint(20, (1, 9)),)], ({1: words},),
        ),
        "cache": Case(case_modules.Cache(), [(torch.rand(1, 1, 8),) for _ in range(6)]),
        "cond": Case(case_modules.Conditional(), [(matrix,), (-matrix.abs(),), (matrix.abs(),)]),
        "while_loop": Case(case_modules.Repeated(), [(matrix,), (matrix * 100,)]),
        "quantized": Case(case_modules.quantized_network(), [(torch.rand(2, 3, 16, 16),)]),
        "quantized_weights": Case(case_modules.quantized_layers(Int8WeightOnlyConfig()), [(torch.rand(2, 32),)]),
        "quantized_rows": Case(
            case_modules.quantized_layers(Int8DynamicActivationInt8WeightConfig()), [(torch.rand(2, 32),)]
        ),
        "recurrent_networks": Case(case_modules.Networks().eval(), [(torch.rand(2, 5, 4),)]),
        "recurrent": Case(case_modules.Recurrent(), [(torch.rand(2, 5, 4), torch.rand(2, 4))]),
        "mutated_input": Case(case_modules.Counter(), [(matrix.clone(),), (matrix.clone(),)]),
        "lengths": Case(
            case_modules.Lengths(), [(torch.rand(6, 4),), (torch.rand(13, 4),), (torch.rand(8, 4),)], ({0: Dim.AUTO},)
        ),
        "normalizations": Case(case_modules.Normalizations().eval(), [(torch.rand(2, 3, 4),)]),
        "nested": Case(case_modules.Nested(), [({"a": matrix, "b": matrix + 1}, (matrix, matrix * 2))]),
        **{function.__name__: Case(Function(function), [(matrix,)]) for function in FUNCTIONS},
    }  # fmt: skip


def write(folder: Path) -> None:
    """Write NAME.pt2, as torch exports it, NAME.core.pt2, in core ATen, and NAME.npz with inputs and outputs."""
    for name, case in cases().items():
        program = torch.export.export(case.module, case.calls[0], dynamic_shapes=case.dynamic_shapes)
        core = program.run_decompositions()
        if any(type(tensor) not in (torch.Tensor, nn.Parameter) for tensor in program.state_dict.values()):
            # Objects of torchao would be pickled.
            program = program.run_decompositions({})
        for one, suffix in ((program, ""), (core, ".core")):
            one._example_inputs = None  # they would be pickled
            _remove_origins(one)
            torch.export.save(one, folder / f"{name}{suffix}.pt2")
        arrays = {}
        for at, call in enumerate(case.calls):
            before = [tensor.clone() for tensor in torch.utils._pytree.tree_leaves(call)]
            results = torch.utils._pytree.tree_leaves(case.module(*call))
            # Inputs that are changed in place are outputs, too.
            after = torch.utils._pytree.tree_leaves(call)
            results += [now for now, tensor in zip(after, before) if not torch.equal(now, tensor)]
            for kind, values in (("input", before), ("output", results)):
                for index, value in enumerate(values):
                    arrays[f"{at}.{kind}.{index}"] = np.asarray(
                        value.detach() if isinstance(value, torch.Tensor) else value
                    )
        np.savez_compressed(folder / f"{name}.npz", **arrays)


def _remove_origins(program: torch.export.ExportedProgram) -> None:
    """Remove where nodes come from: paths of the machine, and addresses in memory."""
    for module in program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            for key in ("stack_trace", "from_node"):
                node.meta.pop(key, None)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
