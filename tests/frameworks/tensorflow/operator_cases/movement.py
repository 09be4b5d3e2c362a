"""Shapes, creation, splitting, padding, reversal and gathering."""

import numpy as np

from tests.frameworks.tensorflow.raw_case import Case, booleans, fixed, integers, reals

CASES = [
    Case("Range", [fixed(1), fixed(10), fixed(3)]),
    Case("Range", [np.int32(2), np.int32(9), np.int32(2)]),
    Case("Range", [fixed(5, np.float32), np.float32(0), fixed(-1.5, np.float32)]),
    Case("LinSpace", [fixed(0, np.float32), fixed(1, np.float32), fixed(5)]),
    Case("LinSpace", [np.float32(2), np.float32(-1), np.int32(4)]),
    Case("LinSpace", [np.float32(2), np.float32(-1), fixed(1)]),
    Case("Fill", [fixed([2, 3]), np.float32(1.5)]),
    Case("Fill", [np.array([2, 1], np.int32), fixed(7)]),
    *(Case(name, [value]) for name in ("ZerosLike", "OnesLike") for value in (reals(2, 3), integers(4), booleans(2))),
    *(
        Case(
            "OneHot",
            [integers(*shape, low=-1, high=4), fixed(3), fixed(5, np.float32), fixed(1, np.float32)],
            {"axis": axis},
        )
        for shape, axis in (((4,), -1), ((2, 3), 0), ((2, 3), 1), ((), -1))
    ),
    Case("OneHot", [np.array([0, 2], np.uint8), fixed(3), fixed(1), fixed(0)]),
    Case("Rank", [reals(2, 3)]),
    Case("Size", [reals(2, 3)]),
    Case("Size", [reals(2, 3)], {"out_type": "tf.int64"}),
    Case("Shape", [reals(2, 3)]),
    Case("ShapeN", [[reals(2, 3), reals(4)]]),
    Case("ShapeN", [[reals(2, 3), reals(2)]], {"out_type": "tf.int64"}),
    Case("Tile", [reals(2, 3), fixed([2, 1])]),
    Case("Tile", [reals(2, 3), np.array([1, 3], np.int64)]),
    Case("BroadcastTo", [reals(3), fixed([2, 3])]),
    Case("BroadcastTo", [reals(2, 1), np.array([4, 2, 3], np.int32)]),
    Case("BroadcastArgs", [fixed([2, 1, 3]), fixed([4, 1])]),
    Case("BroadcastArgs", [np.array([2, 1], np.int32), np.array([2, 5], np.int32)], is_static=True),
    *(Case("Split", [fixed(axis), reals(2, 6)], {"num_split": count}) for axis, count in ((1, 3), (-1, 2), (0, 2))),
    Case("SplitV", [reals(2, 6), fixed([1, 2, 3]), fixed(1)], {"num_split": 3}),
    Case("SplitV", [reals(6), fixed([1, -1], np.int64), fixed(0)], {"num_split": 2}),
    *(Case("Unpack", [reals(2, 3)], {"num": count, "axis": axis}) for count, axis in ((2, 0), (3, 1), (3, -1))),
    Case("Reverse", [reals(2, 3), fixed([True, False], np.bool_)]),
    *(Case("ReverseV2", [reals(2, 3, 2), fixed(axes)]) for axes in ([0], [-1, 0], [1, 2])),
    Case("ReverseSequence", [reals(3, 4, 2), np.array([1, 4, 2], np.int32)], {"seq_dim": 1, "batch_dim": 0}),
    Case("ReverseSequence", [reals(4, 3, 2), np.array([1, 4, 2], np.int64)], {"seq_dim": 0, "batch_dim": 1}),
    Case("Roll", [reals(2, 5), fixed([2]), fixed([1])]),
    Case("Roll", [reals(2, 5), fixed(-1), fixed(-1)]),
    Case("Roll", [reals(2, 5), fixed([1, 2], np.int64), fixed([0, 1])]),
    *(
        Case("MirrorPad", [reals(3, 4), fixed(pads)], {"mode": mode})
        for pads, mode in (([[1, 2], [0, 1]], "REFLECT"), ([[1, 1], [2, 2]], "SYMMETRIC"))
    ),
    Case("PadV2", [reals(2, 3), fixed([[1, 0], [0, 2]]), fixed(1.5, np.float32)]),
    Case("PadV2", [integers(2, 3), fixed([[1, 0], [0, 2]], np.int64), fixed(7)]),
    Case("PadV2", [reals(2, 3), np.array([[1, 0], [0, 2]], np.int32), np.float32(2)]),
    Case("SpaceToDepth", [reals(1, 4, 6, 3)], {"block_size": 2}),
    Case("DepthToSpace", [reals(1, 2, 3, 12)], {"block_size": 2}),
    Case("SpaceToBatchND", [reals(1, 4, 6, 2), fixed([2, 3]), fixed([[0, 0], [1, 2]])]),
    Case("SpaceToBatchND", [reals(1, 5, 2), fixed([2]), fixed([[1, 0]])]),
    Case("BatchToSpaceND", [reals(6, 2, 3, 1), fixed([2, 3]), fixed([[0, 1], [1, 0]])]),
    Case("SpaceToBatch", [reals(1, 4, 4, 2), fixed([[0, 0], [1, 1]])], {"block_size": 2}),
    Case("BatchToSpace", [reals(4, 2, 3, 1), fixed([[0, 1], [1, 0]])], {"block_size": 2}),
    Case("Gather", [reals(4, 3), fixed([2, 0])]),
    Case("GatherV2", [reals(4, 3), integers(2, 2, low=0, high=4), fixed(0)]),
    Case("GatherV2", [reals(2, 4), integers(3, low=0, high=4), fixed(-1)]),
    Case("GatherV2", [reals(2, 4, 3), integers(2, 2, low=0, high=4), fixed(1)], {"batch_dims": 1}),
    Case("GatherV2", [reals(5), np.int64(3), fixed(0)]),
    Case("GatherV2", [np.array(["a", "b", "c"]), fixed([2, 0]), fixed(0)]),
    Case("GatherNd", [reals(3, 4), np.array([[0, 1], [2, 3]], np.int32)]),
    Case("GatherNd", [reals(3, 4), np.array([[[0], [2]]], np.int64)]),
    Case("UnravelIndex", [np.array([5, 11, 0], np.int32), fixed([3, 4])]),
    Case("UnravelIndex", [np.int64(7), fixed([2, 2, 3], np.int64)]),
    Case("DynamicPartition", [reals(4, 2), np.array([0, 2, 0, 1], np.int32)], {"num_partitions": 3}),
    Case("DynamicPartition", [reals(2, 2), np.array([[0, 1], [1, 1]], np.int32)], {"num_partitions": 2}),
    *(
        Case(name, [[np.array([0, 2], np.int32), np.array([1, 3], np.int32)], [reals(2, 2), reals(2, 2)]])
        for name in ("DynamicStitch", "ParallelDynamicStitch")
    ),
    Case("DynamicStitch", [[fixed(0), fixed([[2, 1]])], [reals(3), reals(1, 2, 3)]]),
    Case("DynamicStitch", [[fixed([0, 1]), fixed([1, 2])], [reals(2), reals(2)]]),
    Case("ConjugateTranspose", [reals(2, 3, 4), fixed([2, 0, 1])]),
    Case("DataFormatDimMap", [np.array([0, 1, 2, 3, -1], np.int32)]),
    Case("DataFormatDimMap", [np.array([1, 3], np.int32)], {"src_format": "NCHW", "dst_format": "NHWC"}),
    Case("DataFormatVecPermute", [np.array([1, 2, 3, 4], np.int32)], is_static=True),
    Case("DataFormatVecPermute", [integers(4, 2)], {"src_format": "NCHW", "dst_format": "NHWC"}, is_static=True),
    Case("DataFormatVecPermute", [integers(2)], is_static=True),
]
