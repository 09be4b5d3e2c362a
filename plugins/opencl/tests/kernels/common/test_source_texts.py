"""Rules for all OpenCL C of the plugin: files and the texts in Python modules that kernels are generated from."""

import re
from importlib import resources
from pathlib import Path


def test_inline_functions_are_static():
    """An ``inline`` function alone has no definition that can be called in C99.

    Compilers that do not inline it leave an undefined symbol in AMD's objects, and SPIR-V that is not valid.
    """
    root = Path(str(resources.files("hetero_opencl")))
    files = [*root.rglob("*.cl"), *root.rglob("*.py")]
    texts = {str(file.relative_to(root)): file.read_text(encoding="utf-8") for file in files}
    assert sum(text.count("static inline ") for text in texts.values()) > 30
    assert [name for name, text in texts.items() if re.search(r"(?<!static )\binline\b", text)] == []
