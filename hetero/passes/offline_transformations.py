"""Transformations that programs apply to models before they save them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hetero.graph import Model, Parameter, Result, walk_nested
from hetero.passes import (
    LowLatency2,
    MakeStateful,
    PassManager,
    eliminate_common_subexpressions,
    eliminate_dead_code,
    fold_constants,
    remove_identities,
)
from hetero.passes.compression.fp16_compression import compress_model
from hetero.passes.compression.weight_quantization import compress_quantized_weights
from hetero.passes.pruning import prune_channels


def apply_moc_transformations(model: Model, cf: bool, smart_reshape: bool = False) -> None:
    """Apply the optimizations that hold on every device; ``cf``: fold constants too.

    ``smart_reshape`` has no effect: models can be reshaped without it.
    """
    passes = [remove_identities, eliminate_common_subexpressions, eliminate_dead_code]
    PassManager([fold_constants, *passes] if cf else passes).run(model)


def apply_moc_legacy_transformations(model: Model, params_with_custom_types: Sequence[str]) -> None:
    """Apply the optimizations that hold on every device, without constant folding.

    ``params_with_custom_types`` has no effect: no optimization here changes the element type of an input.
    """
    apply_moc_transformations(model, cf=False)


def apply_fused_names_cleanup(model: Model) -> None:
    """Remove the names of the operations that each node was fused from, which a file may have."""
    for node in walk_nested(model.get_ops()):
        for key in [key for key in node.rt_info if str(key).startswith("fused_names")]:
            del node.rt_info[key]


def apply_low_latency_transformation(model: Model, use_const_initializer: bool = True) -> None:
    """Keep the values that loops carry between inferences too, see ``passes.LowLatency2``."""
    LowLatency2(use_const_initializer).run_on_model(model)


def apply_make_stateful_transformation(
    model: Model,
    param_res_names: Mapping[str, str] | None = None,
    *,
    pairs_to_replace: Sequence[tuple[Parameter, Result]] | None = None,
) -> None:
    """Turn pairs of an input and an output into variables, see ``passes.MakeStateful``."""
    MakeStateful(pairs_to_replace or param_res_names or {}).run_on_model(model)


def apply_pruning_transformation(model: Model) -> None:
    """Remove the channels of convolutions and matrix products whose weights are all zero."""
    prune_channels(model)


def compress_model_transformation(model: Model) -> None:
    """Store f32 and f64 constants as f16."""
    compress_model(model)


def compress_quantize_weights_transformation(model: Model) -> None:
    """Store constants that FakeQuantize quantizes in 8 or 4 bits, see ``compress_quantized_weights``."""
    compress_quantized_weights(model)
