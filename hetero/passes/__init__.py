"""Transformations of models. Each function changes its model in place and returns whether it changed anything."""

from hetero.passes.attention import fuse_attention
from hetero.passes.batch_norm_folding import fold_batch_norm, split_batch_norm
from hetero.passes.common_subexpressions import eliminate_common_subexpressions
from hetero.passes.constant_folding import fold_constants
from hetero.passes.convolution_fusion import fuse_convolution
from hetero.passes.dead_code import eliminate_dead_code
from hetero.passes.gelu import fuse_gelu
from hetero.passes.known_branches import take_known_branches
from hetero.passes.layer_norm import fuse_layer_norm
from hetero.passes.manager import Pass, PassManager, changes_rounding, rounds_otherwise
from hetero.passes.newest_versions import take_newest_versions
from hetero.passes.no_ops import eliminate_no_ops
from hetero.passes.pads import fuse_pads
from hetero.passes.prelu_slopes import align_prelu_slopes
from hetero.passes.specialization import specialize, value_parameters
from hetero.passes.transpose_sinking import sink_transposes
from hetero.passes.unique_names import make_names_unique
from hetero.passes.weights import fold_weights

__all__ = [
    "Pass", "PassManager", "align_prelu_slopes", "changes_rounding", "eliminate_common_subexpressions",
    "eliminate_dead_code", "eliminate_no_ops", "fold_batch_norm", "fold_constants", "fold_weights",
    "fuse_attention", "fuse_convolution", "fuse_gelu", "fuse_layer_norm", "fuse_pads", "make_names_unique",
    "rounds_otherwise", "sink_transposes", "specialize", "split_batch_norm", "take_known_branches",
    "take_newest_versions", "value_parameters",
]  # fmt: skip
