"""Modules of names: what programs for OpenVINO import from them."""

import importlib
import subprocess
import sys

import numpy as np
import pytest

import hetero
from hetero import opset13
from hetero.name_modules import MODULES

# The classes that programs expect to be those of the package itself.
SAME = {
    "_pyopenvino.Core": hetero.Core,
    "_pyopenvino.Place": hetero.frontend.Place,
    "_pyopenvino.DescriptorTensor": hetero.Output,
    "_pyopenvino.op.Parameter": hetero.Parameter,
    "_pyopenvino.op.util.Variable": hetero.op.util.Variable,
    "_pyopenvino.properties.hint.inference_precision": hetero.properties.hint.inference_precision,
    "_pyopenvino.passes.Manager": hetero.passes.Manager,
    "tools.ovc.convert_model": hetero.convert_model,
    "utils.replace_node": None,
    "frontend.pytorch.ts_decoder.TorchScriptPythonDecoder": None,
    "frontend.pytorch.patch_model.unpatch_model": None,
    "frontend.pytorch.module_extension.ModuleExtension": hetero.frontend.pytorch.ModuleExtension,
}


@pytest.mark.parametrize("path", SAME)
def test_names(path):
    module, _, name = path.rpartition(".")
    found = getattr(importlib.import_module(f"hetero.{module}"), name)
    assert found is SAME[path] or (SAME[path] is None and callable(found))


@pytest.mark.parametrize("path", [path for path in MODULES if MODULES[path]])
def test_modules_have_what_they_list(path):
    module = importlib.import_module(f"hetero.{path}")
    assert dir(module) and all(hasattr(module, name) for name in dir(module))
    with pytest.raises(AttributeError, match=f"module 'hetero.{path}' has no attribute 'nothing'"):
        module.nothing  # noqa: B018


def test_submodules_are_attributes():
    code = "import hetero.utils.types, hetero.tools.ovc; print(hetero.utils.types.get_dtype, hetero.tools.ovc)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_results_are_an_ovdict():
    from hetero.utils.data_helpers.wrappers import OVDict

    x = opset13.parameter([1], np.float32)
    results = hetero.Core().compile_model(hetero.Model([opset13.relu(x)], [x]), "TEMPLATE")(np.float32([1]))
    assert isinstance(results, OVDict)


def test_models_of_tensorflow_are_recognized():
    from hetero.frontend.tensorflow.utils import type_supported_by_tf_fe

    assert not type_supported_by_tf_fe("nothing.pb") and not type_supported_by_tf_fe(object())


def test_patched_modules():
    from hetero.frontend.pytorch.patch_model import unpatch_model

    class Module:
        forward = "patched"

        def named_modules(self):
            return [("", self)]

    module = Module()
    module.original = "original"
    unpatch_model(module, "original")
    assert module.forward == "original" and not hasattr(module, "original")
