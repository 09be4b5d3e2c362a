"""Models with preprocessing run on GPU as in OpenVINO."""

import openvino
import pytest

import hetero
from tests.devices import GPUS
from tests.openvino_programs import preprocessing_results
from tests.openvino_programs.test_programs import assert_same

PROGRAMS = {name: value for name, value in vars(preprocessing_results).items() if name.startswith("program_")}


@pytest.mark.parametrize("name", PROGRAMS)
def test_preprocessing(name, monkeypatch):
    expected = PROGRAMS[name](openvino)
    monkeypatch.setattr(preprocessing_results, "DEVICE", GPUS[0])
    assert_same(PROGRAMS[name](hetero), expected)
