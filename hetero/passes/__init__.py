"""Passes: functions that change a model in place and return whether they changed anything; and those of OpenVINO.

OpenVINO's are classes: Manager runs ModelPasses and MatcherPasses, whose patterns are graphs of nodes.
"""

from hetero.graph.unique_names import make_names_unique
from hetero.passes.common_subexpressions import eliminate_common_subexpressions
from hetero.passes.constant_folding import fold_constants
from hetero.passes.dead_code import eliminate_dead_code
from hetero.passes.denormal_weights import flush_denormal_weights
from hetero.passes.fold_constant_if import fold_constant_if
from hetero.passes.fusion.activations import fuse_swish
from hetero.passes.fusion.attention import fuse_attention
from hetero.passes.fusion.batch_norm_folding import fold_batch_norm, split_batch_norm
from hetero.passes.fusion.convolution_fusion import fuse_convolution
from hetero.passes.fusion.fuse_elementwise import FusionRules, fuse_elementwise
from hetero.passes.fusion.fuse_pad_into_convolution import fuse_pad_into_convolution
from hetero.passes.fusion.gelu import fuse_gelu
from hetero.passes.fusion.join_products import join_products
from hetero.passes.fusion.layer_norm import fuse_layer_norm
from hetero.passes.fusion.prelu_slopes import align_prelu_slopes
from hetero.passes.manager import Pass, PassManager, changes_numerics, may_change_numerics
from hetero.passes.matching.graph_rewrite import (
    BackwardGraphRewrite,
    GraphRewrite,
    Manager,
    MatcherPass,
    ModelPass,
    PassBase,
)
from hetero.passes.matching.pattern_graph import AnyInput, Matcher, Optional, Or, Predicate, WrapType
from hetero.passes.matching.predicates import (
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
    LowLatency2,
    MakeStateful,
    Serialize,
    Version,
)
from hetero.passes.remove_identities import remove_identities
from hetero.passes.specialization import shape_deciding_parameters, specialize
from hetero.passes.transposes.channel_shuffles import channel_selection, sink_channel_shuffles
from hetero.passes.transposes.transpose_sinking import sink_transposes
from hetero.passes.upgrade_opset import upgrade_opset
from hetero.passes.weights import fold_weights

__all__ = [
    "AnyInput", "BackwardGraphRewrite", "ConstantFolding", "ConvertFP32ToFP16", "FusionRules", "GraphRewrite",
    "LowLatency2", "MakeStateful", "Manager", "Matcher", "MatcherPass", "ModelPass", "Optional", "Or", "Pass",
    "PassBase", "PassManager", "Predicate", "Serialize", "Version", "WrapType", "align_prelu_slopes", "attrs_match",
    "changes_numerics", "channel_selection", "consumers_count", "eliminate_common_subexpressions",
    "eliminate_dead_code", "flush_denormal_weights", "fold_batch_norm", "fold_constant_if", "fold_constants",
    "fold_weights", "fuse_attention", "fuse_convolution", "fuse_elementwise", "fuse_gelu", "fuse_layer_norm",
    "fuse_pad_into_convolution", "fuse_swish", "has_static_dim", "has_static_dims", "has_static_rank",
    "has_static_shape", "join_products", "make_names_unique", "may_change_numerics", "rank_equals", "remove_identities",
    "shape_deciding_parameters", "shape_matches", "sink_channel_shuffles", "sink_transposes", "specialize",
    "split_batch_norm", "type_matches", "type_matches_any", "upgrade_opset",
]  # fmt: skip
