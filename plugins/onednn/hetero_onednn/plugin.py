"""The plugin: the device, the operations that it supports, and how a model is compiled."""

from __future__ import annotations

import os
from collections.abc import Sequence

from hetero.core.types import Type
from hetero.graph import Node
from hetero.passes import (
    align_prelu_slopes,
    eliminate_common_subexpressions,
    eliminate_dead_code,
    flush_denormal_weights,
    fold_batch_norm,
    fold_constant_if,
    fold_constants,
    fuse_gelu,
    fuse_layer_norm,
    fuse_pad_into_convolution,
    fuse_swish,
    is_identity,
    remove_identities,
    sink_channel_shuffles,
    split_batch_norm,
    upgrade_opset,
)
from hetero.plugin import Device, Plugin, PreparedModel, Rank, common_properties, inference_precision, model_programs
from hetero_onednn.compiled_model import OneDnnCompiledModel
from hetero_onednn.library.api import effective_isa
from hetero_onednn.library.library import fork_guard, load_library
from hetero_onednn.passes.error_function import compute_erf_by_polynomials
from hetero_onednn.passes.fake_quantize import split_fake_quantize
from hetero_onednn.passes.integer_moves import move_integers
from hetero_onednn.passes.zero_replacement import replace_zeros_by_arithmetic
from hetero_onednn.primitives import implementation_of
from hetero_onednn.quantization import compute_products_in_floats
from hetero_onednn.shape_arithmetic import follows_from_shapes

#: Bits of dnnl_cpu_isa_t that a processor has which computes in bf16: those of avx512_core_bf16.
_BF16_ISA = 0xE7


class OneDnnPlugin(Plugin):
    """The processor, with the primitives of oneDNN. Raises DeviceError if the library is missing."""

    supported_properties = (*common_properties, model_programs, inference_precision(Type.bf16))
    has_strings = False
    judges_together = True
    passes = (
        fold_constant_if,
        upgrade_opset,
        align_prelu_slopes,
        fold_constants,
        remove_identities,
        replace_zeros_by_arithmetic,
        split_fake_quantize,
        compute_products_in_floats,
        move_integers,
        eliminate_dead_code,
        eliminate_common_subexpressions,
        fuse_pad_into_convolution,
        split_batch_norm,
        fold_batch_norm,
        flush_denormal_weights,
        sink_channel_shuffles,
        fuse_gelu,
        fuse_swish,
        fuse_layer_norm,
        compute_erf_by_polynomials,
    )

    def __init__(self) -> None:
        super().__init__()
        library = load_library()
        has_bf16 = _has_bf16()
        self._device = Device(
            full_name=f"oneDNN {library.version} of the package {library.package}",
            architecture=f"onednn-{library.version}-{effective_isa():x}",
            capabilities=("FP32", *(["BF16"] if has_bf16 else []), "EXPORT_IMPORT"),
            max_streams=os.cpu_count() or 1,
            rank=Rank.PROCESSOR,
            compiles_fast=True,
            writes_outputs=True,
            fastest_type=Type.bf16 if has_bf16 else Type.dynamic,
        )

    def devices(self) -> Sequence[Device]:
        fork_guard.check()
        return [self._device]

    def unsupported_reason(self, node: Node, device: Device) -> str | None:
        if follows_from_shapes(node) or is_identity(node):
            return None
        implementation = implementation_of(node)
        return implementation.unsupported_reason(node) if implementation else "oneDNN has no primitive for it"

    def compile(self, prepared: PreparedModel) -> OneDnnCompiledModel:
        prepared.refuse_strings()
        return OneDnnCompiledModel(prepared)


def _has_bf16() -> bool:
    return effective_isa() & _BF16_ISA == _BF16_ISA
