"""Translators of PyTorch operators, one file per family. Importing this package registers all of them."""

from hetero.system.submodules import import_submodules

import_submodules(__name__, __path__)
