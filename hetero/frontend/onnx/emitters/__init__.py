"""Emitters of ONNX nodes, one file per family of operations. Importing this package registers all of them."""

from hetero.system.submodules import import_submodules

import_submodules(__name__, __path__)
