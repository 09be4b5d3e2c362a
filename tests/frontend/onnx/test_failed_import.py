"""An import of the package onnx that fails, as without memory, is a clear error, and the next one may succeed."""

import numpy as np
import pytest

from hetero import Model, Parameter, Type, ops
from hetero.frontend.onnx.writer import save_onnx
from tests.interpreter import run_python

PROGRAM = """
import sys
class Finder:
    fails = True
    def find_spec(self, name, path=None, target=None):
        if name == FAILING and self.fails:
            self.fails = False
            raise ERROR("while " + name + " is imported")
sys.meta_path.insert(0, Finder())
import hetero
core = hetero.Core()
for _ in range(2):
    try:
        print(core.read_model(FILE).friendly_name)
    except hetero.HeteroError as error:
        print(error)
"""


@pytest.mark.parametrize("error", ["MemoryError", "SystemExit"])
@pytest.mark.parametrize("name", ["onnx", "onnx.onnx_pb", "hetero.frontend.onnx.translators", "hetero.frontend.onnx"])
def test_the_second_try_succeeds(name, error, tmp_path):
    x, file = Parameter(Type.f32, [2], name="x"), tmp_path / "sum.onnx"
    save_onnx(Model(ops.Add(x, np.float32([1, 2])), [x], "sum"), file)
    code = PROGRAM.replace("FAILING", repr(name)).replace("ERROR", error).replace("FILE", repr(str(file)))
    first, second = run_python(code)[0].splitlines()
    assert f"{error}: while {name} is imported" in first and second == "sum"
