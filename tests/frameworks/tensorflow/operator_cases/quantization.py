"""Quantization and random numbers."""

import numpy as np

from tests.frameworks.tensorflow.raw_case import Case, Quantized, fixed, integers, reals

_VALUES = reals(3, 4, low=-3, high=3)
_BYTES = integers(3, 4, low=0, high=256, dtype=np.uint8)

CASES = [
    *(
        Case("FakeQuantWithMinMaxArgs", [_VALUES], attributes)
        for attributes in (
            {},
            {"min": -1.0, "max": 2.0},
            {"num_bits": 4, "narrow_range": True},
            {"min": 0.5, "max": 2.0},
        )
    ),
    *(
        Case("FakeQuantWithMinMaxVars", [_VALUES, fixed(low, np.float32), fixed(high, np.float32)], attributes)
        for low, high in ((-1, 2), (0, 3), (-2.5, 0))
        for attributes in ({}, {"num_bits": 5, "narrow_range": True})
    ),
    Case("FakeQuantWithMinMaxVars", [_VALUES, np.float32(-1.3), np.float32(2.1)]),
    Case(
        "FakeQuantWithMinMaxVarsPerChannel",
        [_VALUES, fixed([-1, -2, 0, -1], np.float32), fixed([1, 2, 2, 0.5], np.float32)],
    ),
    *(
        Case("QuantizeAndDequantizeV2", [_VALUES, fixed(-1, np.float32), fixed(2, np.float32)], attributes)
        for attributes in (
            {"range_given": True},
            {},
            {"range_given": True, "signed_input": False},
            {"round_mode": "HALF_UP"},
            {"range_given": True, "narrow_range": True, "num_bits": 4},
        )
    ),
    Case("QuantizeAndDequantizeV3", [_VALUES, fixed(-1, np.float32), fixed(2, np.float32), fixed(8)]),
    Case("QuantizeAndDequantizeV4", [_VALUES, fixed(-1, np.float32), fixed(2, np.float32)], {"range_given": True}),
    Case(
        "QuantizeAndDequantizeV4",
        [_VALUES, fixed(np.zeros(4), np.float32), fixed(np.zeros(4), np.float32)],
        {"axis": 1},
    ),
    *(
        Case(
            "QuantizeV2",
            [_VALUES, fixed(-2, np.float32), fixed(2.5, np.float32)],
            {"T": kind, "mode": "SCALED", "round_mode": rounding},
        )
        for kind in ("tf.qint8", "tf.quint8")
        for rounding in ("HALF_TO_EVEN", "HALF_AWAY_FROM_ZERO")
    ),
    *(
        Case("QuantizeV2", [_VALUES, fixed(low, np.float32), fixed(2.5, np.float32)], {"T": kind, "mode": mode})
        for kind in ("tf.qint8", "tf.quint8")
        for mode in ("MIN_COMBINED", "MIN_FIRST")
        for low in (-2, 0.5)
    ),
    *(
        Case("Dequantize", [Quantized(array, kind), fixed(low, np.float32), fixed(3, np.float32)], {"mode": mode})
        for array, kind in ((integers(3, 4, low=-128, high=128, dtype=np.int8), "qint8"), (_BYTES, "quint8"))
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED")
        for low in (-2, 0)
    ),
    Case(
        "Dequantize",
        [Quantized(_BYTES, "quint8"), fixed([0, -1, -2, 0], np.float32), fixed([1, 2, 3, 4], np.float32)],
        {"mode": "SCALED", "axis": 1},
    ),
    *(Case("RandomUniform", [fixed([3, 4])], {"dtype": kind}, is_random=True) for kind in ("tf.float32", "tf.float16")),
    Case("RandomUniform", [np.array([2, 3], np.int32)], {"dtype": "tf.float32", "seed": 3}, is_random=True),
    Case("RandomUniformInt", [fixed([3, 4]), fixed(1), fixed(10)], is_random=True),
    Case("RandomUniformInt", [fixed([3, 4]), np.int64(1), np.int64(10)], is_random=True),
    *(
        Case(name, [fixed([3, 5])], {"dtype": "tf.float32"}, is_random=True)
        for name in ("RandomStandardNormal", "TruncatedNormal")
    ),
    Case("Multinomial", [reals(2, 4), fixed(5)], is_random=True),
    Case("Multinomial", [reals(2, 4), fixed(5)], {"output_dtype": "tf.int32"}, is_random=True),
    Case("RandomShuffle", [reals(4, 2)], is_random=True),
    *(
        Case(
            "QuantizeAndDequantizeV2",
            [reals(3, 4), np.float32(-1), np.float32(1.5)],
            {"range_given": given, "signed_input": False, "narrow_range": narrow, "num_bits": 4},
        )
        for given in (False, True)
        for narrow in (False, True)
    ),
]
