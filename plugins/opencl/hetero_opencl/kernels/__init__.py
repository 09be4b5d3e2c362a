"""Lowering functions and their OpenCL C sources, one module per operation family."""

import importlib
import pkgutil

from hetero_opencl.kernels.registry import implementations_of, unsupported_reason

__all__ = ["implementations_of", "unsupported_reason"]

# Importing a module registers its lowering functions.
for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
