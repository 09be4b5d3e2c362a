"""Transformations of models. Each function changes its model in place and returns whether it changed anything."""

from hetero.passes.batch_norm_folding import fold_batch_norm
from hetero.passes.constant_folding import fold_constants
from hetero.passes.prelu_slopes import align_prelu_slopes
from hetero.passes.specialization import specialize, value_parameters
from hetero.passes.unique_names import make_names_unique

__all__ = [
    "align_prelu_slopes", "fold_batch_norm", "fold_constants", "make_names_unique", "specialize", "value_parameters",
]  # fmt: skip
