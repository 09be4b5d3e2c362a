"""Operations of Detectron models, compared with OpenVINO, which supports them in IR files only, not in Python."""

import numpy as np
import openvino.opset6
import pytest
from openvino.utils.node_factory import NodeFactory

import hetero
from hetero.ops.opsets import classes_in, snake_case
from tests.ops.detection.test_nms import F32, corners, distinct
from tests.ops.oracle import Data, Unknown, core, in_hetero, run, same_attributes, through_ir

GRID, TOPK, PROPOSALS, OUTPUT, FEATURES = (
    f"experimental_detectron_{name}"
    for name in ("prior_grid_generator", "topk_rois", "generate_proposals_single_image", "detection_output",
                 "roi_feature_extractor")
)  # fmt: skip
OPSET = 6


def random(*shape, scale=1.0, seed=0):
    return Data((np.random.default_rng(seed).standard_normal(shape) * scale).astype(F32))


def f32(*values):
    return np.array(values, F32)


PRIORS = Data(corners(3).array * 20)
BOXES = Data(corners(30).array * 300)
MAPS = [random(1, 3, *shape, seed=shape[0]) for shape in ((80, 90), (40, 45), (20, 23), (10, 12))]
ANCHORS = Data(corners(4 * 5 * 3).array * 60)
OBJECTS = {
    "score_threshold": 0.3, "nms_threshold": 0.4, "max_delta_log_wh": 4.0, "num_classes": 4, "post_nms_count": 8,
    "max_detections_per_image": 30, "deltas_weights": [10.0, 10.0, 5.0, 5.0],
}  # fmt: skip
FOUND = BOXES, random(30, 16, scale=2.0), distinct(30, 4)
RESULTS = [
    (GRID, [PRIORS, random(1, 2, 4, 5), random(1, 3, 64, 100)], {}),
    (GRID, [PRIORS, random(1, 2, 4, 5), random(1, 3, 64, 100)], {"flatten": False}),
    (GRID, [PRIORS, random(1, 2, 4, 5), random(1, 3, 64, 100)], {"stride_x": 9.0, "stride_y": 7.0}),
    (TOPK, [BOXES, Data(distinct(30).array)], {"max_rois": 12}),
    (PROPOSALS, [Data(f32(70, 90, 1)), ANCHORS, random(12, 4, 5, scale=0.2), distinct(3, 4, 5)],
     {"min_size": 2.0, "nms_threshold": 0.5, "pre_nms_count": 40, "post_nms_count": 30}),
    (OUTPUT, [*FOUND, Data(f32([400, 500, 1]))], OBJECTS),
    (OUTPUT, [*FOUND, Data(f32([400, 500, 1]))], OBJECTS | {"max_detections_per_image": 9}),
    *[(FEATURES, [[BOXES, *MAPS]],
       {"pooled_size": 5, "sampling_ratio": ratio, "pyramid_scales": [4, 8, 16, 32], "aligned": aligned})
      for ratio in (0, 2) for aligned in (False, True)],
    (FEATURES, [[Data(corners(9).array * F32([600, 500, 600, 500])), *MAPS[:2]]],
     {"pooled_size": 3, "sampling_ratio": 2, "pyramid_scales": [8, 16]}),
]  # fmt: skip


def arrays_of(arguments):
    flat = [value for item in arguments for value in (item if isinstance(item, list) else [item])]
    return [value.array for value in flat if isinstance(value, Data)]


@pytest.mark.parametrize("case", RESULTS, ids=lambda case: f"{case[0][22:]}-{case[2]}")
def test_results(case):
    """Assert that attributes, types, shapes and results equal OpenVINO's CPU device's, also for dynamic shapes."""
    name, arguments, attributes = case
    ours, parameters = in_hetero(name, OPSET, tuple(arguments), attributes)
    model = through_ir(ours, parameters)
    same_attributes(ours, model.output(0).get_node().input_value(0).get_node())
    assert_same_types(ours, model)
    compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    arrays = arrays_of(arguments)
    results = compiled(arrays)
    for dynamic in ("", "rank"):
        ours, parameters = in_hetero(name, OPSET, tuple(arguments), attributes, dynamic)
        for index, found in enumerate(run(ours, parameters, arrays)):
            np.testing.assert_allclose(found, results[index], rtol=1e-4, atol=1e-4)


def assert_same_types(ours, model):
    for mine, result in zip(ours.outputs(), model.outputs, strict=True):
        assert mine.element_type.to_string() == result.element_type.get_type_name()
        assert openvino.PartialShape(str(mine.partial_shape)) == result.partial_shape


def results(name, arguments, attributes):
    return run(*in_hetero(name, OPSET, tuple(arguments), attributes), arrays_of(arguments))


def test_a_grid_of_its_own():
    """OpenVINO infers one box per cell of the feature map, although the operation makes those of the grid."""
    attributes = {"h": 2, "w": 3, "flatten": False}
    (boxes,) = results(GRID, [PRIORS, random(1, 2, 4, 5), random(1, 3, 60, 90)], attributes)
    places = f32([[15, 15], [45, 15], [75, 15]], [[15, 45], [45, 45], [75, 45]])
    np.testing.assert_allclose(boxes, np.tile(places, 2)[:, :, None] + PRIORS.array, rtol=1e-6)


def test_boxes_that_are_too_few_are_filled_up():
    """OpenVINO's CPU device does not initialize the unused rows."""
    arguments = [Data(f32([1, 2, 3, 4], [5, 6, 7, 8])), Data(f32(0.1, 0.9))]
    (boxes,) = results(TOPK, arguments, {"max_rois": 3})
    assert boxes.tolist() == [[5, 6, 7, 8], [1, 2, 3, 4], [0, 0, 0, 0]]


def test_objects_end_at_the_image():
    """As in the specification; OpenVINO's CPU device clips only the lower bounds."""
    rois, offsets = Data(f32([-5, 2, 30, 60], [40, 40, 45, 45])), Data(np.zeros((2, 8), F32))
    scores, image = Data(f32([0, 0.5], [0, 0.9])), Data(f32([50, 20, 1]))
    attributes = OBJECTS | {"num_classes": 2, "max_detections_per_image": 3}
    boxes, kinds, chances = results(OUTPUT, [rois, offsets, scores, image], attributes)
    assert boxes.tolist() == [[19, 40, 19, 45], [0, 2, 19, 49], [0, 0, 0, 0]]
    assert kinds.tolist() == [1, 1, 0]
    np.testing.assert_array_equal(chances, f32(0.9, 0.5, 0))


def test_a_box_without_an_area_has_no_features():
    features, boxes = results(
        FEATURES, [[Data(f32([5, 5, 5, 9], [1, 1, 9, 9])), MAPS[0]]],
        {"pooled_size": 2, "sampling_ratio": 1, "pyramid_scales": [1]})  # fmt: skip
    assert (features[0] == 0).all()
    assert (features[1] != 0).all()
    assert boxes.tolist() == [[5, 5, 5, 9], [1, 1, 9, 9]]


def unknown(*shape, dtype=F32):
    return Unknown(shape, dtype)


LIMITS = {"min_size": 0.0, "nms_threshold": 0.5, "pre_nms_count": 10, "post_nms_count": 7}
POOLED = {"pooled_size": 7, "sampling_ratio": 2, "pyramid_scales": [4, 8]}
SHAPES = [
    (GRID, [unknown(-1, 4), unknown(1, 3, -1, 6), unknown(1, 3, 100, 200)], {"flatten": False}),
    (GRID, [Unknown("[...]")] * 3, {"flatten": False}),
    (GRID, [unknown(5, 4, dtype=np.float16), unknown(1, 3, 4, 6, dtype=np.float16), Unknown("[...]", np.float16)], {}),
    (TOPK, [Unknown("[...]")] * 2, {"max_rois": 5}),
    (PROPOSALS, [Unknown("[...]")] * 4, LIMITS),
    (OUTPUT, [unknown(-1, 4), unknown(10, 16), unknown(-1, -1), unknown(1, 3)], OBJECTS),
    (FEATURES, [[unknown(-1, 4), unknown(1, -1, 40, 50), unknown(1, 3, 20, 25)]], POOLED),
]


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_shapes(case):
    name, arguments, attributes = case
    ours, parameters = in_hetero(name, OPSET, tuple(arguments), attributes)
    assert_same_types(ours, through_ir(ours, parameters))


REFUSED = [
    (GRID, [unknown(5, 3), unknown(1, 3, 4, 6), unknown(1, 3, 9, 9)], {}),
    (GRID, [unknown(5, 4), unknown(2, 3, 4, 6), unknown(1, 3, 9, 9)], {}),
    (GRID, [unknown(5, 4), unknown(1, 3, 4, 6), unknown(1, 3, 9)], {}),
    (TOPK, [unknown(10, 4), unknown(11)], {"max_rois": 5}),
    (TOPK, [unknown(10, 5), unknown(10)], {"max_rois": 5}),
    (TOPK, [unknown(10, 4), unknown(10, 1)], {"max_rois": 5}),
    (PROPOSALS, [unknown(4), unknown(60, 4), unknown(20, 3, 4), unknown(5, 3, 4)], LIMITS),
    (PROPOSALS, [unknown(3), unknown(60, 5), unknown(20, 3, 4), unknown(5, 3, 4)], LIMITS),
    (PROPOSALS, [unknown(3), unknown(60, 4), unknown(20, 3, 4), unknown(5, 3, 5)], LIMITS),
    (OUTPUT, [unknown(10, 4), unknown(10, 17), unknown(10, 4), unknown(1, 3)], OBJECTS),
    (OUTPUT, [unknown(10, 4), unknown(10, 16), unknown(10, 5), unknown(1, 3)], OBJECTS),
    (OUTPUT, [unknown(10, 4), unknown(11, 16), unknown(10, 4), unknown(1, 3)], OBJECTS),
    (OUTPUT, [unknown(10, 4), unknown(10, 16), unknown(10, 4), unknown(3)], OBJECTS),
    (FEATURES, [[unknown(10, 4), unknown(1, 3, 40, 50), unknown(1, 4, 20, 25)]], POOLED),
    (FEATURES, [[unknown(10, 4), unknown(2, 3, 40, 50)]], POOLED),
    (FEATURES, [[unknown(10, 5), unknown(1, 3, 40, 50)]], POOLED),
]


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_refused(case):
    """OpenVINO accepts the same node for inputs of unknown shapes."""
    name, arguments, attributes = case
    flat = [value for item in arguments for value in (item if isinstance(item, list) else [item])]
    made_by_openvino(name, ["[...]"] * len(flat), attributes)
    with pytest.raises(RuntimeError):
        made_by_openvino(name, [value.shape for value in flat], attributes)
    with pytest.raises(hetero.HeteroError):
        in_hetero(name, OPSET, tuple(arguments), attributes)


def made_by_openvino(name, shapes, attributes):
    inputs = [openvino.opset6.parameter(openvino.PartialShape(shape), F32) for shape in shapes]
    named = {"output_size" if key == "pooled_size" else key: value for key, value in attributes.items()}
    types = {snake_case(kind): kind for kind in classes_in(OPSET)}
    return NodeFactory(f"opset{OPSET}").create(types[name], inputs, named)
