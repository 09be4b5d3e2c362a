"""The operation sets: one class an operation, one file a family."""
# ruff: noqa: F401 - the classes are here for others to import

from hetero.graph import Constant, Parameter, Result
from hetero.ops.convolution import (
    Convolution,
    ConvolutionBackpropData,
    GroupConvolution,
    GroupConvolutionBackpropData,
)
from hetero.ops.expansion import Broadcast, Pad, Range, Tile
from hetero.ops.gather import Gather
from hetero.ops.interpolation import Interpolate
from hetero.ops.movement import (
    Concat,
    DepthToSpace,
    Identity,
    Reshape,
    ShapeOf,
    SpaceToDepth,
    Squeeze,
    Transpose,
    Unsqueeze,
)
from hetero.ops.pooling import AvgPool, MaxPool
from hetero.ops.slicing import Slice, Split, StridedSlice, VariadicSplit
