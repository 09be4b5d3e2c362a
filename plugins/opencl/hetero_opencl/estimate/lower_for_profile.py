"""Lowering for a device that is not at hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import pyopencl as cl

from hetero.compiler import ProgramCache
from hetero.graph import Model
from hetero.passes import fold_compressed_weights, fold_weights
from hetero.system.errors import UnsupportedOperationError
from hetero_opencl.compile.lower_model import lower_model
from hetero_opencl.compile.segments import cut
from hetero_opencl.compile.variable_ports import expose_variables
from hetero_opencl.lowering.constants import Constants
from hetero_opencl.lowering.program import KernelProgram
from hetero_opencl.lowering.tuning import Tuning
from hetero_opencl.plugin import OpenCLPlugin
from hetero_opencl.profiles.profile import DeviceProfile
from hetero_opencl.profiles.profiled_device import ProfiledDevice


class _NoMemory(NamedTuple):
    """Stands for the memory of a constant."""

    size: int


def lower_for_profile(model: Model, profile: DeviceProfile, inputs: Sequence[np.ndarray]) -> KernelProgram:
    """Return the program of a model for inputs of these shapes; variables have no value yet. No device is needed.

    If shapes depend on data, this is the program of the operations before these are known. Launches are not merged.

    Raises UnsupportedOperationError if a device of this profile cannot run the model.
    """
    plugin = OpenCLPlugin([ProfiledDevice(profile)])
    query = plugin.query_model(model, {})
    if query.refused or query.prepared is None:
        raise UnsupportedOperationError(f"{profile.name} cannot run {next(iter(query.refused.values()), 'the model')}")
    prepared = query.prepared.model
    fold_compressed_weights(prepared)
    fold_weights(prepared)
    stateless, _, _ = expose_variables(prepared, [False] * len(prepared.variables))
    constants = Constants(lambda array: cast(cl.Buffer, _NoMemory(array.nbytes)))

    def lower(special: Model) -> KernelProgram:
        return lower_model(cut(special).model, profile, constants, Tuning(profile.name, Path()), is_profiled=True)

    cache = ProgramCache(stateless, lower)
    values = {index: inputs[index] for index in cache.deciding}
    return cache.program_for([array.shape for array in inputs], values)
