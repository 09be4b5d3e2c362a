"""Resizing of images."""

from hetero.frontend.numerics.resize import resize_bilinear, resize_nearest
from hetero.frontend.tensorflow.registry import translator

translator("ResizeBilinear")(resize_bilinear)
translator("ResizeNearestNeighbor")(resize_nearest)
