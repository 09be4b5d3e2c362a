"""Support vector machines against ONNX Runtime."""

import numpy as np
import onnx
import pytest

import hetero
from hetero.frontend.onnx.translators.machine_learning.scores import POST_TRANSFORMS
from hetero.system.errors import FrontendError
from tests.frontend.onnx.compare import assert_as_onnxruntime, operator_model, run_onnxruntime

RNG = np.random.default_rng(0)
FEATURES = 5
X = RNG.standard_normal((40, FEATURES)).astype(np.float32)
KERNELS = ("LINEAR", "POLY", "RBF", "SIGMOID")


def numbers(*shape):
    return np.random.default_rng(shape).standard_normal(shape).reshape(-1).tolist()


def classifier(classes, kernel, with_probabilities=False, transform="NONE", texts=False):
    counts = [1 + (3 * index) % 4 for index in range(classes)]
    total, pairs = sum(counts), classes * (classes - 1) // 2
    labels = (
        {"classlabels_strings": [f"c{i}" for i in range(classes)]}
        if texts
        else {"classlabels_ints": [*range(5, 5 + classes)]}
    )
    attributes = {
        **labels, "vectors_per_class": counts, "support_vectors": numbers(total, FEATURES),
        "coefficients": numbers(classes - 1, total), "rho": numbers(pairs, 1), "kernel_type": kernel,
        "kernel_params": [0.3, 0.2, 3.0], "post_transform": transform,
    }  # fmt: skip
    if with_probabilities:
        attributes |= {"prob_a": [-0.5 - index / 7 for index in range(pairs)], "prob_b": numbers(pairs)}
    return model_of("SVMClassifier", attributes, 2)


def model_of(kind, attributes, outputs, data=X) -> onnx.ModelProto:
    return operator_model(kind, [data], attributes, outputs, "ai.onnx.ml", 1)


@pytest.mark.parametrize("with_probabilities", [False, True], ids=["scores", "probabilities"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("classes", [2, 3, 6])
def test_classifiers(classes, kernel, with_probabilities):
    assert_as_onnxruntime(classifier(classes, kernel, with_probabilities, texts=classes == 3), [X], 1e-4)


@pytest.mark.parametrize("transform", POST_TRANSFORMS)
@pytest.mark.parametrize("with_probabilities", [False, True], ids=["scores", "probabilities"])
@pytest.mark.parametrize("classes", [2, 4])
def test_transforms(classes, with_probabilities, transform):
    proto = classifier(classes, "RBF", with_probabilities, transform)
    if (classes, with_probabilities, transform) == (2, False, "PROBIT"):
        # ONNX Runtime writes the second score to the place of the first; that of 1 - p is its negative.
        _, scores = run_onnxruntime(proto, {"x0": X}).values()
        second = scores[:, 0]
        _, found = hetero.Core().compile_model(proto, "TEMPLATE")([X]).to_tuple()
        np.testing.assert_allclose(found, np.stack([-second, second], 1), 1e-4, 1e-4)
        assert np.isfinite(second).any()
    else:
        assert_as_onnxruntime(proto, [X], 1e-4)


@pytest.mark.parametrize("kind", [np.float64, np.int64, np.int32])
def test_other_types_of_features(kind):
    data = (X * 3).astype(kind)
    proto = classifier(3, "RBF", True)
    proto.graph.input[0].type.tensor_type.elem_type = onnx.helper.np_dtype_to_tensor_dtype(data.dtype)
    assert_as_onnxruntime(proto, [data], 1e-4)


@pytest.mark.parametrize("one_class", [0, 1])
@pytest.mark.parametrize("count", [0, 6])
@pytest.mark.parametrize("kernel", KERNELS)
def test_regressors(kernel, count, one_class):
    attributes = {
        "n_supports": count, "coefficients": numbers(count or FEATURES), "rho": [0.3], "kernel_type": kernel,
        "kernel_params": [0.3, 0.2, 3.0], "one_class": one_class,
        **({"support_vectors": numbers(count, FEATURES)} if count else {}),
    }  # fmt: skip
    assert_as_onnxruntime(model_of("SVMRegressor", attributes, 1), [X], 1e-4)


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
def test_a_linear_classifier(transform):
    attributes = {
        "classlabels_ints": [4, 5, 6], "coefficients": numbers(3, FEATURES), "rho": [0.3], "kernel_type": "LINEAR",
        "kernel_params": [0.0, 0.0, 0.0], "post_transform": transform,
    }  # fmt: skip
    assert_as_onnxruntime(model_of("SVMClassifier", attributes, 2), [X], 1e-4)


def test_near_vectors_of_large_numbers():
    """Their distance is small between large squares: f32 would have lost it."""
    vectors = np.float32([[3000, 4000], [3000.5, 4000], [2999, 4001]])
    attributes = {
        "n_supports": 3, "coefficients": [1.0, -2.0, 0.5], "rho": [0.0], "kernel_type": "RBF",
        "kernel_params": [0.7, 0.0, 0.0], "support_vectors": vectors.reshape(-1).tolist(),
    }  # fmt: skip
    data = vectors + np.float32(0.25)
    assert_as_onnxruntime(model_of("SVMRegressor", attributes, 1, data), [data], 1e-5)


@pytest.mark.parametrize("device", ["CPU", "HETERO:GPU,TEMPLATE"])
def test_other_devices(device):
    assert_as_onnxruntime(classifier(3, "RBF", True), [X], 1e-4, device)


def test_too_few_classes():
    proto = classifier(3, "RBF")
    next(a for a in proto.graph.node[0].attribute if a.name == "vectors_per_class").ints.pop()
    with pytest.raises(FrontendError, match="vectors_per_class has 2 numbers, but there are 3 labels"):
        hetero.Core().read_model(proto)
