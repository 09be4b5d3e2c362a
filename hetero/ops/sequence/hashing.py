"""LshProjection: an operation of TensorFlow Lite; not in OpenVINO."""

from __future__ import annotations

from hetero.core.types import Type
from hetero.graph import Attribute, Op
from hetero.ops.checks import check_type, merge_dimensions, non_scalar_shape, shape_of_rank


class LshProjection(Op):
    """Locality-sensitive hash of ``data [N, …]`` with seeds ``hash [H, B]`` and optional weights ``[N]``.

    The bit of a seed is set if the weighted sum of the hashes of all rows is positive. The hash of a row is FarmHash's
    Fingerprint64 of the seed's bytes followed by the row's, as a signed number. The output is the bits, i32
    ``[H · B]``, or if ``is_sparse`` is set, for each row h of seeds its bits as a number plus ``h · 2^B``, i32 ``[H]``.

    - ``weight``: ``[N]``, the weight of each row.
    """

    input_names = ("hash", "data", "weight?")
    is_sparse = Attribute(bool, False)

    def validate_and_infer_types(self) -> None:
        check_type(self, [0, *range(2, self.get_input_size())], lambda kind: kind is Type.f32, "f32")
        check_type(self, [1], lambda kind: kind is not Type.string, "numbers")
        seeds, data = shape_of_rank(self, 0, 2), non_scalar_shape(self, 1)
        if seeds[1].min_length > 32:
            self.fail(f"hash {seeds} must have at most 32 columns")
        if data.has_rank and self.has_input("weight"):
            merge_dimensions(self, (data[0], shape_of_rank(self, 2, 1)[0]), "rows and weights")
        self.set_output_type(0, Type.i32, [seeds[0] if self.is_sparse else seeds[0] * seeds[1]])
