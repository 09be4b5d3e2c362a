"""Passes: functions that change a model in place and return whether they changed anything; and those of OpenVINO.

OpenVINO's are classes: Manager runs ModelPasses and MatcherPasses, whose patterns are graphs of nodes.
"""

from hetero.graph.unique_names import make_names_unique
from hetero.passes.cleanup import (
    eliminate_common_subexpressions,
    eliminate_dead_code,
    is_identity,
    remove_identities,
)
from hetero.passes.compression.compressed_weights import fold_compressed_weights, gather_compressed_rows
from hetero.passes.compression.computed_constant import computed_constant
from hetero.passes.constant_folding import fold_constants, fold_weights, with_folded_weights
from hetero.passes.denormal_weights import flush_denormal_weights
from hetero.passes.fusion.activations import align_prelu_slopes, fuse_gelu, fuse_swish
from hetero.passes.fusion.attention import fuse_attention
from hetero.passes.fusion.convolution import (
    fold_batch_norm,
    fuse_convolution,
    fuse_pad_into_convolution,
    split_batch_norm,
)
from hetero.passes.fusion.fuse_elementwise import FusionRules, fuse_elementwise
from hetero.passes.fusion.join_products import join_products
from hetero.passes.fusion.layer_norm import fuse_layer_norm
from hetero.passes.integers_in_f32 import compute_integers_in_f32
from hetero.passes.manager import (
    Pass,
    PassManager,
    changes_numerics,
    does_keep_values,
    keeps_values,
    may_change_numerics,
)
from hetero.passes.matching.graph_rewrite import (
    BackwardGraphRewrite,
    GraphRewrite,
    Manager,
    MatcherPass,
    ModelPass,
    PassBase,
)
from hetero.passes.matching.pattern_graph import (
    AnyInput,
    Matcher,
    OptionalPattern,
    Or,
    Predicate,
    WrapType,
    attrs_match,
    consumers_count,
    has_static_dim,
    has_static_dims,
    has_static_rank,
    has_static_shape,
    rank_equals,
    shape_matches,
    type_matches,
    type_matches_any,
)
from hetero.passes.model_passes import (
    ConstantFolding,
    ConvertFP32ToFP16,
    IRVersion,
    LowLatency2,
    MakeStateful,
    Serialize,
)
from hetero.passes.specialization import fold_constant_if, shape_deciding_parameters, specialize
from hetero.passes.transposes.channel_shuffles import channel_selection, sink_channel_shuffles
from hetero.passes.transposes.transpose_sinking import sink_transposes
from hetero.passes.upgrade_opset import upgrade_opset

# The names that OpenVINO gives them.
Optional, Version = OptionalPattern, IRVersion

__all__ = [
    "AnyInput", "BackwardGraphRewrite", "ConstantFolding", "ConvertFP32ToFP16", "FusionRules", "GraphRewrite",
    "LowLatency2", "MakeStateful", "Manager", "Matcher", "MatcherPass", "ModelPass", "Optional", "Or", "Pass",
    "PassBase", "PassManager", "Predicate", "Serialize", "Version", "WrapType", "align_prelu_slopes", "attrs_match",
    "changes_numerics", "channel_selection", "compute_integers_in_f32", "computed_constant", "consumers_count",
    "does_keep_values", "eliminate_common_subexpressions", "eliminate_dead_code", "flush_denormal_weights",
    "fold_batch_norm", "fold_compressed_weights", "fold_constant_if", "fold_constants", "fold_weights",
    "fuse_attention", "fuse_convolution", "fuse_elementwise", "fuse_gelu", "fuse_layer_norm",
    "fuse_pad_into_convolution", "fuse_swish", "gather_compressed_rows", "has_static_dim", "has_static_dims",
    "has_static_rank", "has_static_shape", "is_identity",
    "join_products", "keeps_values", "make_names_unique", "may_change_numerics", "rank_equals", "remove_identities",
    "shape_deciding_parameters", "shape_matches", "sink_channel_shuffles", "sink_transposes", "specialize",
    "split_batch_norm", "type_matches", "type_matches_any", "upgrade_opset", "with_folded_weights",
]  # fmt: skip
