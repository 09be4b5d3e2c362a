"""Indices out of range, which OpenVINO does not check: an error or the value of the definition, never other memory."""

import numpy as np
import pytest

from hetero import Core, Model, Parameter, Type, ops
from hetero.system.errors import DeviceError, UnsupportedValueError

CPU = "OPENVINO.CPU"
X = np.arange(1, 21, dtype=np.float32).reshape(4, 5)
OUTSIDE = [4, 5, -6, -1000, 10**6, 2**31 - 1, 1 - 2**31]
BEYOND = [-(2**31), 2**31, 2**40, -(2**63), 2**63 - 1]


def ready(make, shape, kind, data=X):
    """Return a function of indices that runs the operation that ``make`` makes of data and indices."""
    x, indices = Parameter(Type(data.dtype), data.shape), Parameter(kind, shape)
    request = Core().compile_model(Model(make(x, indices), [x, indices], "m"), CPU).create_infer_request()
    return lambda given: request.infer([data, np.array(given, kind.to_dtype()).reshape(shape)])[0]


@pytest.mark.parametrize("version", [ops.Gather, ops.GatherND])
def test_indices_of_more_than_32_bits_are_refused_at_run_time(version):
    run = ready(lambda x, i: version(x, i, np.int64(0)) if version is ops.Gather else version(x, i), [1, 1], Type.i64)
    for index in BEYOND:
        with pytest.raises(UnsupportedValueError, match="OpenVINO computes i64 in 32 bits"):
            run([index])
    run([3])


@pytest.mark.parametrize("kind", [Type.i32, Type.i64], ids=str)
@pytest.mark.parametrize("version", [ops.GatherND, ops.GatherNDV5])
@pytest.mark.parametrize("shape", [[2, 1], [-1, 1], [1, 2, 1]], ids=str)
def test_gather_nd_gives_zeros(shape, version, kind):
    run = ready(version, shape, kind) if -1 not in shape else None
    if run is None:
        x, indices = Parameter(Type.f32, [-1, -1]), Parameter(kind, shape)
        request = Core().compile_model(Model(version(x, indices), [x, indices], "m"), CPU).create_infer_request()
        run = lambda given: request.infer([X, np.array(given, kind.to_dtype()).reshape(-1, 1)])[0]  # noqa: E731
    for index in (3, -4):
        np.testing.assert_array_equal(run([index, 1]).reshape(2, 5), X[[index, 1]])
    for index in OUTSIDE:
        np.testing.assert_array_equal(run([index, 1]).reshape(2, 5), [np.zeros(5), X[1]])


@pytest.mark.parametrize("version", [ops.GatherND, ops.GatherNDV5])
def test_gather_nd_with_batches_and_vectors(version):
    data = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
    run = ready(lambda x, i: version(x, i, batch_dims=1), [2, 2, 1], Type.i64, data)
    np.testing.assert_array_equal(run([1, 3, -3, -4]), [[data[0, 1], np.zeros(4)], [data[1, 0], np.zeros(4)]])
    run = ready(lambda x, i: version(x, i, batch_dims=2), [2, 3, 1], Type.i64, data)
    expected = np.float32([[4, 0, 9], [13, 0, 24]])
    np.testing.assert_array_equal(run([3, 4, -4, 0, 2**20, 3]).reshape(2, 3), expected)
    run = ready(version, [3, 2], Type.i32, X)
    np.testing.assert_array_equal(run([0, 4, 0, 5, 4, 0]), [5, 0, 0])


@pytest.mark.parametrize("kind", [Type.bf16, Type.i32, Type.boolean, Type.u8], ids=str)
def test_gather_nd_of_other_types(kind):
    data = (X % 2).astype(kind.to_dtype())
    found = ready(ops.GatherND, [2, 1], Type.i64, data)([4, 1])
    np.testing.assert_array_equal(found, [np.zeros(5, data.dtype), data[1]])


@pytest.mark.parametrize("kind", [Type.i32, Type.i64], ids=str)
@pytest.mark.parametrize("version", [ops.Gather, ops.GatherV7, ops.GatherV1])
def test_gather_counts_from_the_end_and_gives_zeros(version, kind):
    run = ready(lambda x, i: version(x, i, np.int64(0)), [2], kind)
    np.testing.assert_array_equal(run([-1, 1]), X[[-1, 1]])
    for index in OUTSIDE:
        np.testing.assert_array_equal(run([index, 1]), [np.zeros(5), X[1]])


UPDATES = np.full((1, 5), 3, np.float32)
REFUSED = {
    "ScatterElementsUpdate": (lambda x, i: ops.ScatterElementsUpdate(x, i, UPDATES, np.int64(0)), [1, 5]),
    "ScatterElementsUpdateV3": (lambda x, i: ops.ScatterElementsUpdateV3(x, i, UPDATES, np.int64(0)), [1, 5]),
    "sums": (lambda x, i: ops.ScatterElementsUpdate(x, i, UPDATES, np.int64(-2), reduction="sum"), [1, 5]),
    "ScatterUpdate": (lambda x, i: ops.ScatterUpdate(x, i, UPDATES, np.int64(0)), [1]),
    "ScatterNDUpdate": (lambda x, i: ops.ScatterNDUpdate(x, i, UPDATES), [1, 1]),
    "GatherElements": (lambda x, i: ops.GatherElements(x, i, 0), [1, 5]),
    "EmbeddingBagPackedSum": (ops.EmbeddingBagPackedSum, [1, 1]),
}


@pytest.mark.parametrize("kind", [Type.i32, Type.i64], ids=str)
@pytest.mark.parametrize("name", REFUSED)
def test_refused_at_run_time(name, kind):
    make, shape = REFUSED[name]
    run = ready(make, shape, kind)
    for index in OUTSIDE:
        with pytest.raises(DeviceError):
            run(np.full(shape, index, kind.to_dtype()))
    run(np.full(shape, 3))


@pytest.mark.parametrize("kind", [ops.PSROIPooling, ops.DeformablePSROIPooling, ops.ROIPooling])
def test_regions_of_images_that_are_not_there_are_zeros(kind):
    data = np.full((1, 4, 4, 5), 7, np.float32)
    settings = {
        ops.PSROIPooling: {"output_dim": 1, "group_size": 2, "spatial_scale": 1.0, "spatial_bins_x": 1,
                           "spatial_bins_y": 1, "mode": "average"},
        ops.DeformablePSROIPooling: {"output_dim": 1, "group_size": 2, "spatial_scale": 1.0, "spatial_bins_x": 1,
                                     "spatial_bins_y": 1, "trans_std": 1.0, "part_size": 1},
        ops.ROIPooling: {"output_size": [2, 2], "spatial_scale": 1.0, "method": "max"},
    }[kind]  # fmt: skip
    run = ready(lambda x, i: kind(x, i, **settings), [2, 5], Type.f32, data)
    good, region = [0, 0, 0, 3, 3], [0, 0, 3, 3]
    expected = run([good, good])[0]
    assert (expected == 7).all()
    for image in (1, 4, -6, -1000, 2**31, -(2**31), np.inf, np.nan):
        found = run([[image, *region], good])
        assert not found[0].any()
        np.testing.assert_array_equal(found[1], expected)


def test_labels_of_no_class_make_an_infinite_loss():
    logits = np.zeros((2, 4, 5), np.float32)

    def loss(x, labels):
        return ops.CTCLoss(x, np.int32([4, 4]), labels, np.int32([2, 2]), np.int32(4))

    run = ready(loss, [2, 4], Type.i32, logits)
    good = run([1, 2, 3, 0, 1, 2, 3, 0])[1]
    for label in (5, -1, -1000, 2**31 - 1, -(2**31)):
        np.testing.assert_array_equal(run([1, label, 3, 0, 1, 2, label, label]), [np.inf, good])


def test_lengths_and_segments_that_are_negative():
    def decode(x, lengths):
        return ops.CTCGreedyDecoderSeqLen(x, lengths, merge_repeated=True).output(0)

    logits = np.eye(5, dtype=np.float32)[None, [1, 2, 3]]
    run = ready(decode, [1], Type.i32, logits)
    assert run([2]).tolist() == [[1, 2, -1]]
    for length in (-1, -1000, -(2**31)):
        assert run([length]).tolist() == [[-1, -1, -1]]
    run = ready(lambda x, i: ops.SegmentMax(x, i, np.int32(3), fill_mode="zero"), [4], Type.i32)
    np.testing.assert_array_equal(run([0, 0, 1, 2**31 - 1]), [X[1], X[2], np.zeros(5)])
    for segment in (-1, -1000, -(2**31)):
        assert run([0, 0, 1, segment]).shape == (3, 5)


@pytest.mark.parametrize("name", ["Slice", "SliceScatter"])
def test_axes_that_are_not_constant_are_refused_with_constant_bounds(name):
    x, axes = Parameter(Type.f32, [4, 5], name="x"), Parameter(Type.i64, [1], name="axes")
    one = np.int64([1])
    node = {
        "Slice": lambda a: ops.Slice(x, one - 1, one, one, a, name="y"),
        "SliceScatter": lambda a: ops.SliceScatter(x, X[:1], one - 1, one, one, a, name="y"),
    }[name]
    assert "y" not in Core().query_model(Model(node(axes), [x, axes], "m"), CPU)
    assert "y" in Core().query_model(Model(node(one - 1), [x], "m"), CPU)


@pytest.mark.parametrize("kind", [Type.i32, Type.i64, Type.f32], ids=str)
def test_a_range_whose_step_leads_away_from_its_end_is_empty(kind):
    stop, step = Parameter(kind, [], name="stop"), Parameter(kind, [], name="step")
    made = ops.Range(np.array(0, kind.to_dtype()), stop, step, kind)
    compiled = Core().compile_model(Model(made, [stop, step], "m"), CPU)
    for last, by in ((-6, 1), (6, -1), (6, 2), (-5, -2), (0, 1)):
        found = compiled([np.array(last, kind.to_dtype()), np.array(by, kind.to_dtype())])[0]
        assert found.tolist() == list(range(0, last, by))


@pytest.mark.parametrize("kind", [Type.i32, Type.i64], ids=str)
def test_computed_axes_are_checked(kind):
    x, axes, start = Parameter(Type.f32, X.shape), Parameter(kind, [2]), Parameter(Type.i64, [2])
    model = Model([ops.Slice(x, start, [3, 2], [1, 1], axes), ops.Roll(x, [1, 2], axes)], [x, axes, start], "m")
    request = Core().compile_model(model, CPU).create_infer_request()
    for first, second in ((0, 1), (1, 0), (-1, -2), (0, -1)):
        sliced, rolled = request.infer([X, np.array([first, second], kind.to_dtype()), np.int64([1, 0])]).to_tuple()
        expected = np.take(np.take(X, [1, 2], first), [0, 1], second)
        np.testing.assert_array_equal(sliced, expected)
        np.testing.assert_array_equal(rolled, np.roll(X, (1, 2), (first, second)))
    for first, second in ((0, 2), (-3, 1), (10**6, 1), (0, 1 - 2**31)):
        with pytest.raises(UnsupportedValueError, match="out of the range"):
            request.infer([X, np.array([first, second], kind.to_dtype()), np.int64([1, 0])])


@pytest.mark.parametrize("strides, pads", [([1, 1], [0, 0]), ([2, 1], [1, 0]), ([3, 2], [2, 2])], ids=str)
def test_columns_fit_the_output_size(strides, pads):
    """The image of columns of ones counts the positions of the kernel that cover an element."""
    data, size, kernel = Parameter(Type.f32, [1, -1, -1]), Parameter(Type.i64, [2]), Parameter(Type.i64, [2])
    node = ops.Col2Im(data, size, kernel, strides, [1, 1], pads, pads)
    request = Core().compile_model(Model([node], [data, size, kernel], "m"), CPU).create_infer_request()
    for height, width, tall, wide in ((4, 5, 2, 3), (6, 6, 1, 1), (5, 4, 3, 2)):
        expected = np.zeros([height + 2 * pads[0], width + 2 * pads[1]], np.float32)
        rows = range(0, expected.shape[0] - tall + 1, strides[0])
        columns = range(0, expected.shape[1] - wide + 1, strides[1])
        for row in rows:
            for column in columns:
                expected[row : row + tall, column : column + wide] += 1
        expected = expected[pads[0] : pads[0] + height, pads[1] : pads[1] + width]
        ones = np.ones([1, tall * wide, len(rows) * len(columns)], np.float32)
        image = request.infer([ones, np.int64([height, width]), np.int64([tall, wide])])[0]
        np.testing.assert_array_equal(image, expected[None, None])
        for wrong in ([height + 9, width], [1000, 1000], [2**31 - 1, 2**31 - 1], [-1, 3], [0, 0]):
            with pytest.raises(DeviceError):
                request.infer([ones, np.int64(wrong), np.int64([tall, wide])])
