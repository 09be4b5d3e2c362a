"""The documentation of operations: help() of each class explains its inputs and attributes."""

import pydoc
import re
import runpy
from pathlib import Path

import pytest

from hetero import Op, ops
from hetero.graph import Attribute
from hetero.graph.documentation import documentation_of
from hetero.ops.opsets import extension_classes, operation_classes

ROOT = Path(__file__).parents[2]
CLASSES = [*operation_classes(), *extension_classes().values()]
# Inputs whose names say what they are.
PLAIN = {"data", "node", "arg", "left_node", "right_node", "arg0", "arg1", "input", "inputs"}


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_inputs_and_attributes_are_described(cls):
    """An item describes an input or attribute, or the text about the operation names it."""
    documentation = documentation_of(cls).values()
    described = {name for one in documentation for name in one.meanings}
    text = "\n".join(one.text for one in documentation)
    words = set(re.findall(r"\w+", text))
    literals = {word for literal in re.findall("``(.*?)``", text) for word in re.findall(r"\w+", literal)}
    attributes = {attribute.name for attribute in cls.attributes_declared}
    inputs = {name.strip("*?") for name in cls.input_names} - PLAIN
    assert cls in documentation_of(cls), f"{cls.__name__} has no docstring"
    assert not attributes - described - literals
    assert not inputs - described - words


def test_help_lists_inputs_and_attributes_with_types_and_defaults():
    lines = [line.strip(" |") for line in pydoc.plain(pydoc.render_doc(ops.TopK)).splitlines()]
    assert {
        "- ``k``: an integer scalar.",
        "- ``axis`` (int)",
        "- ``mode`` (one of max, min): max or min.",
        "- ``index_element_type`` (Type, by default 'i32'): i32 or i64, the element type of the indices.",
        "- ``stable`` (bool, by default False)",
        "Since opset11.",
    } <= set(lines)


def test_documentation_of_a_custom_operation():
    class Scale(Op):
        """The data times a factor.

        - ``data [N, C]``: any numbers.
        - ``factor``: the number to multiply by,
          which may be negative.

        Exact for integers.
        """

        input_names = ("data", "offset?", "*others")
        factor = Attribute(float, 1.0)

    class Twice(Scale):
        pass

    assert (
        Scale.__doc__
        == """The data times a factor.

Exact for integers.

Inputs:

- ``data``: ``[N, C]``, any numbers.
- ``offset`` (optional)
- ``others`` (any number)

Attributes:

- ``factor`` (float, by default 1.0): the number to multiply by, which may be negative.

In no operation set."""
    )
    assert Twice.__doc__ is None


def test_pages(tmp_path):
    """Every operation has a page, with the calls that create it."""
    write_pages = runpy.run_path(str(ROOT / "docs/operation_pages.py"))["write_pages"]
    pages = {path.stem: path.read_text(encoding="utf-8") for path in write_pages(tmp_path)}
    assert pages.keys() == {cls.type_info.name for cls in CLASSES}
    assert "opset8.softmax(data, axis)\nops.Softmax(data, axis)\n" in pages["Softmax"]
    assert [line for line in pages["TopK"].splitlines() if line.startswith("## ")] == [
        "## TopK-11",
        "## TopK-3",
        "## TopK-1",
    ]
