"""A compiled model is exported while requests make programs for other shapes."""

import _weakrefset
import itertools
import threading
import weakref

import numpy as np
from hetero_opencl import compiled_model

from hetero import Core, Model, Parameter, Type, ops
from tests.devices import GPUS
from tests.threads import interleaved


def test_programs_are_made_while_the_model_is_exported():
    x, rows = Parameter(Type.f32, [-1, 4], name="x"), itertools.count(1)
    core = Core()
    compiled = core.compile_model(Model(ops.Relu(x), [x], "relu"), GPUS[0])

    def infer() -> None:
        compiled(np.ones([next(rows), 4], np.float32))

    infer()
    modules = compiled_model, weakref, _weakrefset
    exported = interleaved(compiled._compiled.export_sections, infer, threading.Event(), *modules)
    for sections, _ in itertools.islice(exported, 40):
        assert isinstance(sections, dict)
