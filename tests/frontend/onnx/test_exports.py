"""Models of scikit-learn, LightGBM and XGBoost as their exporters write them by default, against ONNX Runtime.

tests/frameworks/scikit_learn/make_cases.py made the files.
"""

from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import hetero

EXPORTS = sorted((Path(__file__).parent / "exports").glob("*.onnx"))
X = np.random.default_rng(0).standard_normal((60, 4)).astype(np.float32)
OF_TEXTS = np.random.default_rng(0).choice(["a", "b", "c"], (60, 2))
OF_TYPES = {"tensor(float)": X, "tensor(string)": OF_TEXTS, "map(string,tensor(float))": {"a": 1.5, "c": 2.0}}


@pytest.mark.parametrize("path", EXPORTS, ids=lambda path: path.stem)
def test_exports(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    (port,) = session.get_inputs()
    value = OF_TYPES[port.type]
    expected = session.run(None, {port.name: value})
    compiled = hetero.Core().compile_model(path, "TEMPLATE")
    results = compiled({port.name: value})
    for output, wanted in zip(compiled.outputs, expected, strict=True):
        found = results[output]
        if isinstance(wanted, list):  # of maps
            assert [list(row) for row in found] == [list(row) for row in wanted]
            found, wanted = ([list(row.values()) for row in rows] for rows in (found, wanted))
        if np.asarray(wanted).dtype.kind in "OUi":
            assert np.asarray(found).tolist() == np.asarray(wanted).tolist()
        else:
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
