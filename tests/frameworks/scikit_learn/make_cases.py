"""Write the default exports of scikit-learn, LightGBM and XGBoost to tests/frontend/onnx/exports.

``python -m tests.frameworks.scikit_learn.make_cases FOLDER`` in an environment with scikit-learn, skl2onnx, lightgbm,
xgboost and onnxmltools. The expected results are ONNX Runtime's, which tests compute from the files.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxmltools
from lightgbm import LGBMClassifier, LGBMRegressor
from onnxmltools.convert.common.data_types import FloatTensorType as MlFloats
from skl2onnx import to_onnx
from skl2onnx.common.data_types import DictionaryType, FloatTensorType, StringTensorType
from sklearn import (
    cluster,
    decomposition,
    ensemble,
    feature_extraction,
    linear_model,
    naive_bayes,
    neighbors,
    neural_network,
    pipeline,
    preprocessing,
    svm,
    tree,
)
from xgboost import XGBClassifier, XGBRegressor

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4)).astype(np.float32)
TWO = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)
THREE = np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])
NAMES = np.array(["left", "middle", "right"])[THREE]
REAL = X @ [1, -2, 0.5, 0] + X[:, 1] ** 2
WORDS = RNG.choice(["a", "b", "c"], (60, 2))


def scikit_learn() -> Iterator[tuple[str, Any]]:
    """Yield fitted models by name."""
    classifiers = {
        "logistic_regression": linear_model.LogisticRegression(), "svc": svm.SVC(),
        "svc_probability": svm.SVC(probability=True, random_state=0), "nu_svc": svm.NuSVC(nu=0.2, kernel="poly"),
        "linear_svc": svm.LinearSVC(),
        "random_forest": ensemble.RandomForestClassifier(n_estimators=5, max_depth=4, random_state=0),
        "gradient_boosting": ensemble.GradientBoostingClassifier(n_estimators=5, random_state=0),
        "decision_tree": tree.DecisionTreeClassifier(max_depth=4), "gaussian_nb": naive_bayes.GaussianNB(),
        "ada_boost": ensemble.AdaBoostClassifier(n_estimators=3, random_state=0),
        "k_neighbors": neighbors.KNeighborsClassifier(3),
        "mlp": neural_network.MLPClassifier(hidden_layer_sizes=(5,), max_iter=50),
        "sgd": linear_model.SGDClassifier(random_state=0),
        "pipeline": pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression()),
    }  # fmt: skip
    for name, model in classifiers.items():
        for kind, labels in (("two", TWO), ("names", NAMES)):
            yield f"{name}_{kind}", model.fit(X, labels)
    regressors = {
        "linear_regression": linear_model.LinearRegression(), "svr": svm.SVR(), "nu_svr": svm.NuSVR(kernel="sigmoid"),
        "random_forest_regressor": ensemble.RandomForestRegressor(n_estimators=4, max_depth=4, random_state=0),
        "extra_trees_regressor": ensemble.ExtraTreesRegressor(n_estimators=4, max_depth=4, random_state=0),
        "mlp_regressor": neural_network.MLPRegressor(hidden_layer_sizes=(5,), max_iter=50),
        "lasso": linear_model.Lasso(0.1),
    }  # fmt: skip
    for name, model in regressors.items():
        yield name, model.fit(X, REAL)
    for name, model in {
        "one_class_svm": svm.OneClassSVM(), "k_means": cluster.KMeans(3, random_state=0),
        "isolation_forest": ensemble.IsolationForest(n_estimators=4, random_state=0), "pca": decomposition.PCA(2),
        "poly_features": preprocessing.PolynomialFeatures(2),
        "k_bins": preprocessing.KBinsDiscretizer(3, encode="ordinal"),
    }.items():  # fmt: skip
        yield name, model.fit(X)


def write(folder: Path) -> None:
    """Write all models, each of a few KB."""
    folder.mkdir(parents=True, exist_ok=True)
    floats, options = [("x", FloatTensorType([None, 4]))], {"target_opset": {"": 18, "ai.onnx.ml": 3}}
    models = {name: to_onnx(model, initial_types=floats, **options) for name, model in scikit_learn()}
    texts = [("x", StringTensorType([None, 2]))]
    for name, encoder in (("one_hot", preprocessing.OneHotEncoder()), ("ordinal", preprocessing.OrdinalEncoder())):
        models[name] = to_onnx(encoder.fit(WORDS), initial_types=texts, **options)
    vectorizer = feature_extraction.DictVectorizer(sparse=False).fit([{"a": 1.0, "b": 2.0}, {"c": 3.0}])
    maps = [("x", DictionaryType(StringTensorType([1]), FloatTensorType([1])))]
    models["dict_vectorizer"] = to_onnx(vectorizer, initial_types=maps, **options)
    given = {"initial_types": [("x", MlFloats([None, 4]))], "target_opset": 15}
    for kind, labels in (("two", TWO), ("three", THREE)):
        light = LGBMClassifier(n_estimators=4, min_child_samples=3, verbose=-1).fit(X, labels)
        models[f"lightgbm_{kind}"] = onnxmltools.convert_lightgbm(light, **given)
        extreme = XGBClassifier(n_estimators=4, max_depth=3).fit(X, labels)
        models[f"xgboost_{kind}"] = onnxmltools.convert_xgboost(extreme, **given)
    light = LGBMRegressor(n_estimators=4, min_child_samples=3, verbose=-1).fit(X, REAL)
    models["lightgbm_regressor"] = onnxmltools.convert_lightgbm(light, **given)
    models["xgboost_regressor"] = onnxmltools.convert_xgboost(XGBRegressor(n_estimators=4).fit(X, REAL), **given)
    for name, model in models.items():
        (folder / f"{name}.onnx").write_bytes(model.SerializeToString())


if __name__ == "__main__":
    write(Path(sys.argv[1]))
