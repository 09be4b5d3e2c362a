"""Make every ``import openvino`` of a program import hetero.

``python -m hetero.as_openvino program.py`` runs a program so, with its child processes. ``import hetero.as_openvino``
does the same to the running program, before it imports openvino. docs/openvino_programs.md describes both.

1. ``settings.py``: the settings, which child processes inherit in the environment.
2. ``callers.py``: whose code imports a module or reads a name of it. Plugins get the real openvino.
3. ``modules.py``: the modules openvino and openvino.*, and the finder that makes them.
4. ``real_package.py``: the real openvino, if it is installed.
5. ``distribution.py``: the metadata of a package openvino.
6. ``startup/``: a folder of the module search path of child processes, in which Python finds ``sitecustomize``.
"""

from hetero.as_openvino.modules import install

install()
