"""Translators of TensorFlow operators, one module per family. Importing this package registers all of them."""

import importlib
import pkgutil

for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
