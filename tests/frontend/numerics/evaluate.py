"""Evaluation of functions of Outputs on numpy arrays."""

import numpy as np

from hetero import Core
from hetero.graph import Model, Parameter, as_output


def evaluate(function, *arrays):
    """Return what a function of Outputs computes from arrays; each becomes an input of a model for TEMPLATE."""
    arrays = [np.asarray(array) for array in arrays]
    inputs = [Parameter(array.dtype, array.shape) for array in arrays]
    model = Model([as_output(function(*(node.output(0) for node in inputs)))], inputs, "function")
    return Core().compile_model(model, "TEMPLATE")(arrays)[0]
