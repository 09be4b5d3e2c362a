"""Recurrent cells, CTC and strings."""

import ml_dtypes
import numpy as np

from tests.frameworks.tensorflow.raw_case import Case, booleans, complexes, fixed, integers, reals

_LSTM_WEIGHTS = [reals(5, 8), reals(2), reals(2), reals(2), reals(8)]
_LETTERS = np.array(["ÉA", "éaß", "ÀB c", ""])
_MANY_BYTES = np.array(["hello", "wörld€", "😀a", "ß"])
_DELIMITED = np.array([",a,,b;c", "", ";,", "x]y-z--"])
_TEXTS = np.array(["Hello World", "a b  c", "", "ABC"])
_DECODED = reals(6, 2, 4)

_SPACED = np.array(["abcab hello\n", "  x$y \t", "", "wörld o"])

_REALS = np.array(
    [0, -0.0, 1.5, -2.25, 1e10, 1e-7, 123456.789, np.nan, np.inf, -np.inf, 1 / 3, 16777216, 1e30], np.float32
)
with np.errstate(over="ignore"):  # 1e10 is infinite
    _HALVES = _REALS.astype(np.float16)
_KEYS = np.array(["a" * length for length in range(140)] + ["wörld"])
CASES = [
    Case("GRUBlockCell", [reals(2, 3), reals(2, 4), reals(7, 8), reals(7, 4), reals(8), reals(4)]),
    Case(
        "GRUBlockCell",
        [reals(1, 2), reals(1, 2), fixed(reals(4, 4), np.float32), fixed(reals(4, 2), np.float32), reals(4), reals(2)],
    ),
    *(
        Case("LSTMBlockCell", [reals(2, 3), reals(2, 2), reals(2, 2), *_LSTM_WEIGHTS], attributes)
        for attributes in (
            {"forget_bias": 0.0, "cell_clip": -1.0},
            {"forget_bias": 1.0, "cell_clip": 0.5},
            {"forget_bias": 1.0, "cell_clip": 3.0, "use_peephole": True},
        )
    ),
    *(
        Case(
            "BlockLSTM",
            [fixed(length, np.int64), reals(4, 2, 3), reals(2, 2), reals(2, 2), *_LSTM_WEIGHTS],
            attributes,
            outputs=outputs,
        )
        # TensorFlow does not set the other outputs beyond the length.
        for length, outputs in ((4, None), (3, [1, 6]))
        for attributes in (
            {"forget_bias": 1.0, "cell_clip": -1.0},
            {"forget_bias": 1.0, "cell_clip": 0.5, "use_peephole": True},
        )
    ),
    Case(
        "BlockLSTMV2",
        [fixed(4, np.int64), reals(4, 2, 3), reals(2, 2), reals(2, 2), *_LSTM_WEIGHTS],
        {"cell_clip": 0.0},
    ),
    *(
        Case("CTCGreedyDecoder", [_DECODED, np.array(lengths, np.int32)], attributes)
        for lengths in ([6, 6], [3, 5])
        for attributes in ({}, {"merge_repeated": True}, {"blank_index": 0})
    ),
    *(
        Case(
            "CTCLoss",
            [
                reals(6, 2, 4),
                np.array([[0, 0], [0, 1], [1, 0]], np.int64),
                np.array([0, 2, 1], np.int32),
                np.array([6, 4], np.int32),
            ],
            attributes,
            outputs=[0],
        )
        for attributes in ({}, {"ctc_merge_repeated": False}, {"preprocess_collapse_repeated": True})
    ),
    *(
        Case(name, [texts], {"encoding": encoding})
        for name in ("StringLower", "StringUpper")
        for texts in (_TEXTS, _LETTERS)
        for encoding in ("", "utf-8")
        if (name, texts is _LETTERS, encoding) != ("StringUpper", True, "utf-8")  # by other tables of Unicode: ß
    ),
    *(
        Case("StringSplit", [texts, fixed(delimiter, np.str_)], {"skip_empty": skip_empty})
        for texts, delimiter in ((_TEXTS, ""), (_TEXTS, " "), (_DELIMITED, ",;"), (_DELIMITED, "-]"))
        for skip_empty in (True, False)
    ),
    Case("StringLower", [_TEXTS.reshape(2, 2)]),
    Case("StringJoin", [[_TEXTS, np.array(["1", "2", "3", "4"])]]),
    Case("StringJoin", [[_TEXTS, _TEXTS, np.array("x")]], {"separator": "-"}),
    Case("StaticRegexFullMatch", [_TEXTS], {"pattern": "[A-Z].*"}),
    Case("RegexFullMatch", [_TEXTS, fixed("a.*", np.str_)]),
    Case("StringSplitV2", [_TEXTS, fixed("", np.str_)]),
    Case("StringSplitV2", [_TEXTS, fixed(" ", np.str_)]),
    Case("StringSplitV2", [_TEXTS, fixed(" ", np.str_)], {"maxsplit": 1}),
    Case("StringLength", [_TEXTS]),
    Case("StringLength", [_LETTERS], {"unit": "UTF8_CHAR"}),
    *(
        Case("Substr", [_MANY_BYTES, np.array(position, np.int32), np.array(length, np.int32)], {"unit": "UTF8_CHAR"})
        for position, length in (
            (1, 3),
            ([-4, 2, 0, 0], [10, 0, 1, 5]),
            ([[0, 1, 0, 0], [2, -3, 0, 0]], [[2, 2, 1, 0], [1, 1, 1, 1]]),
        )
    ),
    Case("UnicodeDecode", [_MANY_BYTES], {"input_encoding": "UTF-8"}),
    Case("UnicodeDecodeWithOffsets", [_MANY_BYTES], {"input_encoding": "UTF-8"}),
    *(
        Case("UnicodeEncode", [np.array(points, np.int32), np.array(splits, np.int64)], {"output_encoding": "UTF-8"})
        for points, splits in (
            ([104, 0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF], [0, 3, 3, 8]),
            ([0xD800, -1, 0x110000, 0xE000, 65], [0, 1, 5]),
        )
    ),
    Case("StringToNumber", [np.array(["1.5", "-2", "3e2"])]),
    Case("StringToNumber", [np.array(["15", "-2"])], {"out_type": "tf.int64"}),
    *(Case("AsString", [numbers]) for numbers in (integers(4), booleans(2, 3), _TEXTS, _REALS.astype(np.float64))),
    *(
        Case("AsString", [numbers], {**attributes, **form})
        for numbers in (_REALS, _HALVES, _REALS.astype(ml_dtypes.bfloat16))
        for attributes in ({}, {"precision": 0}, {"precision": 3})
        for form in ({}, {"scientific": True}, {"shortest": True})
    ),
    *(
        Case("AsString", [numbers], {"width": width, "fill": fill})
        for numbers in (_REALS, integers(4), np.array([0, 200], np.uint8), np.array([2**64 - 1], np.uint64))
        for width in (-1, 0, 12)
        for fill in ("", "0", "-", "+", " ")
    ),
    Case("AsString", [_REALS], {"width": 9, "fill": "0", "precision": 2, "shortest": True}),
    *(Case("AsString", [complexes(2, 3)], attributes) for attributes in ({}, {"precision": 1, "width": 8})),
    *(
        Case("StringFormat", [inputs], {"template": template, "placeholder": "{}", "summarize": count})
        for inputs, template in (
            ([integers(10), np.float32(1 / 3), booleans(2)], "a {} % b {}: {}"),
            ([integers(8, 8, dtype=np.int8), integers(2, 3, 4, dtype=np.int64)], "{}{}"),
            ([_REALS, _REALS.astype(np.float64) / 3, _HALVES], "{}, {}, {} wörld"),
            (
                [np.array(['a"b\\', "wörld\n\t\x01'", ""]), np.array("x y"), np.array([2**64 - 1], np.uint64)],
                "{} {} {}",
            ),
            ([np.zeros([0], np.int32), np.zeros([2, 0], np.float32), np.zeros([0, 2], np.float32)], "{} {} {}"),
        )
        for count in (-1, 0, 1, 3, 9)
    ),
    *(
        Case("StaticRegexReplace", [_SPACED], {"pattern": pattern, "rewrite": rewrite, "replace_global": is_global})
        for pattern, rewrite in (
            ("[a-c]+", r"<\0>"),
            (r"(\w)(\w)", r"\2\1\\"),
            (r"\s$", ""),
            ("[$]|o$", "-"),
            ("", "."),
        )
        for is_global in (False, True)
    ),
    Case("RegexReplace", [_SPACED, fixed(r"\s+", np.str_), fixed(" ", np.str_)]),
    Case("StringStrip", [_SPACED]),
    *(
        Case(name, [_KEYS], {"num_buckets": count, **attributes})
        for name, attributes in (
            ("StringToHashBucket", {}),
            ("StringToHashBucketFast", {}),
            ("StringToHashBucketStrong", {"key": [0, 0]}),
            ("StringToHashBucketStrong", {"key": [-123, 2**62 + 5]}),
        )
        for count in (1, 100, 2**40)
    ),
    *(
        Case("Substr", [texts, np.array(position, np.int32), np.array(length, np.int32)])
        for texts, position, length in (
            (np.array(["hello", "world!"]), 1, 3),
            (np.array(["hello", "world!"]), [-4, 2], [10, 0]),
            (np.array(["hello", "world"]), [[0, 1], [2, -3]], [[1, 2], [3, 2]]),
            (np.array("thirteen"), [1, 5], [3, 4]),
        )
    ),
    *(
        Case("ReduceJoin", [np.array([["a", "bb", ""], ["dd", "e", "f"]]), fixed(axes)], attributes)
        for axes, attributes in (
            (0, {}),
            (-1, {"separator": ", "}),
            ([0, 1], {"separator": "-"}),
            ([1, 0], {"separator": "-", "keep_dims": True}),
            ([0], {"keep_dims": True}),
            (np.zeros(0, np.int32), {"separator": "+"}),
        )
    ),
    Case("ReduceJoin", [np.zeros((2, 0), np.str_), fixed(1)], {"separator": "."}),
    *(
        Case("DecodeRaw", [np.array(texts)], {"out_type": f"tf.{kind}"})
        for texts in (["abcdefgh", "ABCDEFGH"], "12345678")
        for kind in ("uint8", "int16", "float32", "int64")
    ),
    *(
        Case(
            "StringNGrams",
            [np.array(["a", "b", "c", "d", "e"]), np.array([0, 3, 3, 5], kind)],
            {
                "separator": separator,
                "ngram_widths": widths,
                "left_pad": "",
                "right_pad": "",
                "pad_width": 0,
                "preserve_short_sequences": False,
            },
        )
        for separator, widths in ((" ", [1, 2]), ("--", [3]), ("", [4]), ("", [2, 1]))
        for kind in (np.int64, np.int32)
    ),
    *(
        Case(
            "UnsortedSegmentJoin",
            [np.array(["a", "b", "c", "d", "e"]), np.array(segments, np.int32), fixed(4)],
            {"separator": separator},
        )
        for segments in ([3, 0, 3, 0, 0], [1, 2, 2, 1, 0])
        for separator in ("", ", ")
    ),
    *(
        Case(
            "RaggedGather",
            [[np.array([0, 2, 2, 3], kind), np.array([0, 3, 3, 5], kind)], reals(5, 2), np.array(indices)],
            {"OUTPUT_RAGGED_RANK": 1 + np.ndim(indices)},
        )
        for indices in ([2, 0, 0], [[1, 0, 2], [0, 0, 1]])
        for kind in (np.int64, np.int32)
    ),
]
