"""Group convolutions in a form for channel blocks: with groups of whole blocks, or as one sparse convolution."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Constant, Model, constant_array
from hetero.passes import channel_selection
from hetero.passes.matching.rewriting import replace, rewrite_each
from hetero_opencl.kernels.convolution.sparse_convolution import merge_groups
from hetero_opencl.profiles.profile import DeviceProfile


def widen_groups(model: Model, profile: DeviceProfile) -> bool:
    """Merge groups of convolutions that are not whole blocks of channels, with zeros in the filters.

    A Gather of channels before a 1×1 convolution disappears in the filters of one without groups, which
    ``SparseConvolution`` runs in no more time. Requires: shapes are static.
    """
    if profile.vector_width not in (8, 16):
        return False
    folded = rewrite_each(model, (ops.Convolution, ops.GroupConvolution), _fold_gather)
    return rewrite_each(model, (ops.GroupConvolution,), lambda node: _merge(node, profile.vector_width)) or folded


def _fold_gather(convolution: ops.Convolution | ops.GroupConvolution) -> bool:
    gather, filters = convolution.input_value(0).node, constant_array(convolution.input_value(1))
    selected, axes = channel_selection(gather), convolution.filter_axes
    if selected is None or filters is None or convolution.get_element_type() is not Type.f32:
        return False
    if math.prod(filters.shape[axes:]) > 1 or filters.shape[1:axes] == (1, 1):
        return False
    dense = merge_groups(filters, len(filters))[0] if axes == 3 else filters
    wide = np.zeros((len(dense), gather.get_input_shape(0)[1], *dense.shape[2:]), dense.dtype)
    wide[:, selected] = dense
    constant = Constant(wide, name=convolution.input_value(1).node.friendly_name)
    inputs = [gather.input_value(0), constant.output(0)]
    replace([convolution], ops.Convolution.of(inputs, convolution.attribute_values()))
    return True


def _merge(convolution: ops.GroupConvolution, width: int) -> bool:
    filters = constant_array(convolution.input_value(1))
    if filters is None or math.prod(filters.shape[3:]) == 1:
        return False
    groups, outputs, channels = filters.shape[:3]
    # The least number of groups whose channels are whole blocks.
    count = math.lcm(width // math.gcd(width, outputs), width // math.gcd(width, channels))
    if count == 1 or groups % count or channels == 1:
        return False
    constant = Constant(merge_groups(filters, count), name=convolution.input_value(1).node.friendly_name)
    inputs = [convolution.input_value(0), constant.output(0)]
    replace([convolution], ops.GroupConvolution.of(inputs, convolution.attribute_values()))
    return True
