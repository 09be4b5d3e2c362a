"""Run a program with the real openvino: ``python -m tests.programs.oracle program.py [arguments]``.

OpenVINO computes in f32: by default it would use bf16 on processors that have it, quantize activations of compressed
weights, and store the caches of decoders in int8.
"""

import runpy
import sys
from pathlib import Path

import openvino as ov

_make_core = ov.Core.__init__


def _make_accurate_core(self: ov.Core, *arguments: str) -> None:
    _make_core(self, *arguments)
    self.set_property("CPU", {"EXECUTION_MODE_HINT": "ACCURACY"})


ov.Core.__init__ = _make_accurate_core
del sys.argv[0]
sys.path[0] = str(Path(sys.argv[0]).parent)
runpy.run_path(sys.argv[0], run_name="__main__")
