"""LshProjection: an operation of TensorFlow Lite's; OpenVINO has no such."""

from __future__ import annotations

from hetero.graph import Attribute, Op
from hetero.ops.checks import check_type, merge_dimensions
from hetero.ops.nms import dimensions_of
from hetero.types import Type


class LshProjection(Op):
    """Bits by locality-sensitive hashing: for each seed of ``hash`` ``[H, B]`` whether the sum of the hashes of all
    rows of ``data`` ``[N, …]``, each times its weight ``[N]``, is positive.

    A row is hashed by FarmHash's Fingerprint64 of the seed's bytes and its own, as a signed number. The result are the
    bits, i32 ``[H · B]``, or where ``is_sparse`` for each ``h`` the number that its bits make, plus ``h · 2^B``.
    """

    inputs = ("hash", "data", "weight?")
    is_sparse = Attribute(bool, False)

    def validate_and_infer_types(self) -> None:
        check_type(self, [0, *range(2, self.get_input_size())], lambda kind: kind is Type.f32, "f32")
        check_type(self, [1], lambda kind: kind is not Type.string, "numbers")
        seeds, data = dimensions_of(self, 0, 2, name="hash"), self.get_input_partial_shape(1)
        if seeds[1].min_length > 32:
            self.fail(f"hash {seeds} must have at most 32 columns")
        if data.has_rank and not len(data):
            self.fail("data must have one or more dimensions, but is a scalar")
        if data.has_rank and self.has_input("weight"):
            merge_dimensions(self, (data[0], dimensions_of(self, 2, 1, name="weight")[0]), "rows and weights")
        self.set_output_type(0, Type.i32, [seeds[0] if self.is_sparse else seeds[0] * seeds[1]])
