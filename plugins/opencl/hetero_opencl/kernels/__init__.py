"""Lowering functions and their OpenCL C sources, one folder per operation family."""

import importlib
import pkgutil

from hetero_opencl.kernels.common.definition import implementations_of, unsupported_reason

__all__ = ["implementations_of", "unsupported_reason"]

# Importing a module registers its lowering functions.
for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
