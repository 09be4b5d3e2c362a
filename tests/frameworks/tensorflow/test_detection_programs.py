"""Programs with the preprocessing and postprocessing of detection models of TensorFlow's Object Detection API.

Each is a frozen graph with the control flow of TensorFlow 1 and a SavedModel; the weights are random.
"""

import numpy as np
import pytest

from hetero import Core

tf = pytest.importorskip("tensorflow")
v1 = tf.compat.v1
SIZE, STRIDE, CLASSES, MAX_PER_CLASS, MAX_TOTAL = 32, 8, 3, 4, 6
_random = np.random.default_rng(3)
STEM = _random.standard_normal((3, 3, 3, 8), np.float32) * 0.5
BOX_HEAD = _random.standard_normal((1, 1, 8, 2 * 4), np.float32) * 0.3
CLASS_HEAD = _random.standard_normal((1, 1, 8, 2 * (CLASSES + 1)), np.float32)
SECOND_HEAD = _random.standard_normal((4 * 4 * 8, CLASSES + 1), np.float32) * 0.3
REFINEMENT = _random.standard_normal((4 * 4 * 8, CLASSES * 4), np.float32) * 0.1
IMAGES = _random.integers(0, 256, (2, 41, 37, 3)).astype(np.uint8)


def preprocess(images):
    """Resize each image in a map, which also returns the true shapes; scale to -1 … 1."""

    def resize(image):
        resized = tf.image.resize(tf.cast(image, tf.float32), [SIZE, SIZE])
        return resized, tf.constant([SIZE, SIZE, 3])

    images, shapes = tf.map_fn(resize, images, fn_output_signature=(tf.float32, tf.int32))
    return images * (2.0 / 255.0) - 1.0, shapes


def anchors(rows, columns):
    """Return the centers and sizes ``[rows · columns · 2, 4]`` of two anchors for each position, in 0 … 1."""
    y = (tf.cast(tf.range(rows), tf.float32) + 0.5) * (STRIDE / SIZE)
    x = (tf.cast(tf.range(columns), tf.float32) + 0.5) * (STRIDE / SIZE)
    x, y = tf.meshgrid(x, y)
    heights, widths = tf.constant([0.4, 0.25]), tf.constant([0.3, 0.5])
    y, x = (tf.tile(tf.expand_dims(tf.reshape(one, [-1]), 1), [1, 2]) for one in (y, x))
    sizes = [tf.tile(tf.expand_dims(one, 0), [tf.shape(y)[0], 1]) for one in (heights, widths)]
    return tf.reshape(tf.stack([y, x, *sizes], 2), [-1, 4])


def decode(codes, anchors):
    """Return the corners of boxes from their differences to anchors, which have centers and sizes."""
    cy, cx, height, width = tf.unstack(tf.transpose(anchors))
    ty, tx, th, tw = tf.unstack(tf.transpose(codes / [10.0, 10.0, 5.0, 5.0]))
    cy, cx, height, width = ty * height + cy, tx * width + cx, tf.exp(th) * height, tf.exp(tw) * width
    return tf.transpose(tf.stack([cy - height / 2, cx - width / 2, cy + height / 2, cx + width / 2]))


def features_of(images):
    x = tf.nn.relu6(tf.nn.conv2d(images, STEM, 4, "SAME"))
    return tf.nn.avg_pool2d(x, 2, 2, "SAME")


def first_stage(images):
    """Return the features, the decoded boxes ``[N, A, 4]`` and the scores ``[N, A, CLASSES + 1]``."""
    features = features_of(images)
    codes = tf.nn.conv2d(features, BOX_HEAD, 1, "SAME")
    logits = tf.nn.conv2d(features, CLASS_HEAD, 1, "SAME")
    shape = tf.shape(features)
    count = shape[1] * shape[2] * 2
    codes, logits = tf.reshape(codes, [shape[0], count, 4]), tf.reshape(logits, [shape[0], count, CLASSES + 1])
    grid = tf.tile(tf.expand_dims(anchors(shape[1], shape[2]), 0), [shape[0], 1, 1])
    boxes = decode(tf.reshape(codes, [-1, 4]), tf.reshape(grid, [-1, 4]))
    return features, tf.reshape(boxes, tf.stack([shape[0], count, 4])), logits


def pad_or_clip(value, count):
    """Return the first rows of a value, with zeros after them if there are fewer."""
    value = value[:count]
    missing = count - tf.shape(value)[0]
    return tf.pad(value, [[0, missing], *[[0, 0]] * (value.shape.rank - 1)])


def clip_to_window(boxes):
    return tf.stack([tf.clip_by_value(one, 0.0, 1.0) for one in tf.unstack(boxes, axis=1)], axis=1)


def unrolled_classes(boxes, scores):
    """Suppress the boxes of each class, then keep the best of all classes; drop boxes without an area."""
    found = []
    for index in range(CLASSES):
        selected, selected_scores, _ = tf.raw_ops.NonMaxSuppressionV5(
            boxes=boxes, scores=scores[:, index], max_output_size=MAX_PER_CLASS, iou_threshold=0.5,
            score_threshold=0.3, soft_nms_sigma=0.0,
        )  # fmt: skip
        label = tf.fill([tf.size(selected)], float(index + 1))
        found.append((clip_to_window(tf.gather(boxes, selected)), selected_scores, label))
    boxes, scores, labels = (tf.concat(parts, 0) for parts in zip(*found))
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    kept = tf.reshape(tf.where(area > 0), [-1])
    boxes, scores, labels = (tf.gather(one, kept) for one in (boxes, scores, labels))
    best, order = tf.nn.top_k(scores, tf.minimum(tf.size(scores), MAX_TOTAL), sorted=True)
    count = tf.size(best)
    boxes, labels = tf.gather(boxes, order), tf.gather(labels, order)
    return (*(pad_or_clip(one, MAX_TOTAL) for one in (boxes, best, labels)), tf.cast(count, tf.float32))


def looped_classes(boxes, scores):
    """The same as a loop over classes, whose results are padded and collected in arrays."""
    arrays = [tf.TensorArray(tf.int32, CLASSES, element_shape=[MAX_PER_CLASS])]
    arrays.append(tf.TensorArray(tf.float32, CLASSES, element_shape=[MAX_PER_CLASS]))

    def step(index, indices, found):
        selected, selected_scores, count = tf.raw_ops.NonMaxSuppressionV5(
            boxes=boxes, scores=scores[:, index], max_output_size=MAX_PER_CLASS, iou_threshold=0.5,
            score_threshold=0.3, soft_nms_sigma=0.4, pad_to_max_output_size=True,
        )  # fmt: skip
        is_valid = tf.range(MAX_PER_CLASS) < count
        indices = indices.write(index, tf.where(is_valid, selected, 0))
        return index + 1, indices, found.write(index, tf.where(is_valid, selected_scores, -1.0))

    _, indices, found = tf.while_loop(lambda index, *_: index < CLASSES, step, (0, *arrays))
    best, order = tf.nn.top_k(tf.reshape(found.stack(), [-1]), MAX_TOTAL)
    labels = tf.cast(order // MAX_PER_CLASS + 1, tf.float32)
    boxes = tf.gather(clip_to_window(boxes), tf.gather(tf.reshape(indices.stack(), [-1]), order))
    is_valid = best > 0
    count = tf.reduce_sum(tf.cast(is_valid, tf.float32))
    return tf.where(is_valid[:, None], boxes, 0.0), tf.maximum(best, 0.0), tf.where(is_valid, labels, 0.0), count


def of_each_image(postprocess, boxes, scores):
    kinds = (tf.float32,) * 4
    return tf.map_fn(lambda pair: postprocess(*pair), (boxes, scores), fn_output_signature=kinds)


def ssd(images):
    _, boxes, logits = first_stage(preprocess(images)[0])
    scores = tf.sigmoid(logits)[:, :, 1:]
    return of_each_image(unrolled_classes, boxes, scores)


def ssd_with_a_loop(images):
    _, boxes, logits = first_stage(preprocess(images)[0])
    return of_each_image(looped_classes, boxes, tf.sigmoid(logits)[:, :, 1:])


def efficient(images):
    """Keep the best boxes before the suppression, which is that of all classes at once."""
    _, boxes, logits = first_stage(preprocess(images)[0])
    scores = tf.sigmoid(logits[:, :, 1:])
    _, best = tf.nn.top_k(tf.reduce_max(scores, -1), 20, sorted=False)
    best = tf.sort(best, -1)
    boxes, scores = tf.gather(boxes, best, batch_dims=1), tf.gather(scores, best, batch_dims=1)
    return tuple(
        tf.image.combined_non_max_suppression(
            boxes[:, :, None], scores, MAX_PER_CLASS, MAX_TOTAL, 0.5, 0.3, clip_boxes=True, pad_per_class=False
        )
    )


def faster(images):
    """Proposals of the first stage are cropped from the features and classified; each class refines its box."""
    images, shapes = preprocess(images)
    features, boxes, logits = first_stage(images)
    objectness = tf.nn.softmax(logits[:, :, :2])[:, :, 1]

    def propose(pair):
        boxes, scores = pair
        selected = tf.image.non_max_suppression(boxes, scores, 5, 0.7)
        return pad_or_clip(clip_to_window(tf.gather(boxes, selected)), 5), tf.size(selected)

    signature = (tf.float32, tf.int32)
    proposals, counts = tf.map_fn(propose, (boxes, objectness), fn_output_signature=signature)
    batch = tf.shape(features)[0]
    owners = tf.reshape(tf.tile(tf.range(batch)[:, None], [1, 5]), [-1])
    crops = tf.image.crop_and_resize(features, tf.reshape(proposals, [-1, 4]), owners, [8, 8])
    flat = tf.reshape(tf.nn.max_pool2d(crops, 2, 2, "SAME"), [-1, 4 * 4 * 8])
    scores = tf.nn.softmax(flat @ SECOND_HEAD)[:, 1:]
    codes = tf.reshape(flat @ REFINEMENT, [-1, CLASSES, 4])
    best = tf.argmax(scores, 1, output_type=tf.int32)
    codes = tf.gather_nd(codes, tf.stack([tf.range(tf.shape(best)[0]), best], 1))
    corners = tf.reshape(proposals, [-1, 4])
    centers = tf.concat([(corners[:, :2] + corners[:, 2:]) / 2, corners[:, 2:] - corners[:, :2]], 1)
    refined = tf.reshape(decode(codes, centers), [batch, 5, 4])
    # Rows beyond the number of proposals have no score.
    is_proposal = tf.sequence_mask(counts, 5, tf.float32)
    scores = tf.reshape(scores, [batch, 5, CLASSES]) * is_proposal[:, :, None]
    absolute = refined * tf.cast(tf.tile(shapes[:, None, :2], [1, 1, 2]), tf.float32)
    return (*of_each_image(unrolled_classes, refined, scores), absolute)


PROGRAMS = [ssd, ssd_with_a_loop, efficient, faster]


def assert_equal(found, expected):
    for array, wanted in zip(found, expected, strict=True):
        assert array.dtype == wanted.dtype
        np.testing.assert_allclose(array, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("program", PROGRAMS)
def test_frozen_graph(program):
    v1.disable_control_flow_v2()
    try:
        with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
            images = v1.placeholder(tf.uint8, [None, None, None, 3], "image_tensor")
            results = [tf.identity(one, f"result_{at}") for at, one in enumerate(program(images))]
            expected = session.run(results, {images: IMAGES})
            names = [one.op.name for one in results]
            content = v1.graph_util.extract_sub_graph(graph.as_graph_def(), names).SerializeToString()
    finally:
        v1.enable_control_flow_v2()
    assert b"TensorArrayWriteV3" in content and b"LoopCond" in content
    assert expected[1].max() > 0.3
    assert_equal(Core().compile_model(content, "TEMPLATE")([IMAGES]).to_tuple(), expected)


@pytest.mark.parametrize("program", PROGRAMS)
def test_saved_model(program, tmp_path):
    module = tf.Module()
    module.call = tf.function(
        lambda images: {f"result_{at}": one for at, one in enumerate(program(images))},
        input_signature=[tf.TensorSpec([None, None, None, 3], tf.uint8, "image_tensor")],
    )
    tf.saved_model.save(module, str(tmp_path), signatures={"serving_default": module.call})
    compiled = Core().compile_model(tmp_path, "TEMPLATE")
    for images in (IMAGES, IMAGES[:1, :33]):
        expected = module.call(tf.constant(images))
        assert_equal(compiled([images]).to_tuple(), [expected[name].numpy() for name in sorted(expected)])
