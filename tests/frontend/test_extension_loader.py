"""Extensions from Python files and modules, as OpenVINO takes them from libraries."""

import sys

import numpy as np
import pytest
from onnx import TensorProto, helper

from hetero import Core, ops
from hetero.frontend import ConversionExtension, OpExtension
from hetero.system.errors import FrontendError, GraphError

OPERATIONS = """
from hetero import Op, ops
from hetero.frontend import ConversionExtension, OpExtension, framework_map


class Plain(Op):
    inputs = ("x",)

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


@framework_map("onnx", "MyMapped")
@framework_map("paddle", "mapped")
class Mapped(Plain):
    pass


class Renamed(Plain):
    pass


renamed = OpExtension(Renamed, "MyRenamed")
negative = ConversionExtension("MyNegative", lambda node: ops.Negative(node.get_input(0)))
"""


def model(op_type) -> bytes:
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    node = helper.make_node(op_type, ["x"], ["y"], name="mine", domain="me")
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("me", 1)]
    graph = helper.make_graph([node], "model", value[:1], value[1:])
    return helper.make_model(graph, opset_imports=imports).SerializeToString()


def made(op_type, *given):
    """Return the class name of the operation that an operator is translated to."""
    core = Core()
    core.add_extension(given)
    return type(core.read_model(model(op_type)).results[0].input_value(0).node).__name__


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "my_ops.py"
    path.write_text(OPERATIONS)
    return path


@pytest.mark.parametrize("form", [str, lambda path: path])
def test_all_that_a_file_defines(file, form):
    """Its extensions, and its operation classes without an extension, but no imported classes such as Op."""
    found = {op_type: made(op_type, form(file)) for op_type in ("Plain", "MyMapped", "MyRenamed", "MyNegative")}
    assert found == {"Plain": "Plain", "MyMapped": "Mapped", "MyRenamed": "Renamed", "MyNegative": "Negative"}
    for op_type in ("Mapped", "mapped", "Renamed", "Op"):
        with pytest.raises(FrontendError, match="no translation"):
            made(op_type, file)


def test_a_file_may_list_them(file):
    file.write_text(OPERATIONS + "\nextensions = [negative, Plain]\n")
    assert made("MyNegative", file) == "Negative" and made("Plain", file) == "Plain"
    with pytest.raises(FrontendError, match="no translation"):
        made("MyRenamed", file)


def test_a_module_by_its_dotted_name(file, monkeypatch):
    package = file.parent / "acme_ops"
    package.mkdir()
    (package / "__init__.py").touch()
    file.rename(package / "relu.py")
    monkeypatch.syspath_prepend(file.parent)
    assert made("MyNegative", "acme_ops.relu") == "Negative"
    del sys.modules["acme_ops.relu"], sys.modules["acme_ops"]


def test_a_file_beside_others_in_a_list(file):
    assert made("Mine", [file, OpExtension("Exp", "Mine")]) == "Exp"


def test_a_file_that_changes_is_read_anew(file):
    assert made("MyNegative", file) == "Negative"
    file.write_text(OPERATIONS.replace("ops.Negative", "ops.Exp"))
    assert made("MyNegative", file) == "Exp"


def test_files_of_the_same_name_are_different_modules(file, tmp_path):
    other = tmp_path / "other" / file.name
    other.parent.mkdir()
    other.write_text("from hetero.frontend import OpExtension\nrelu = OpExtension('Relu', 'Mine')\n")
    assert made("Mine", file, other) == "Relu" and made("Plain", file, other) == "Plain"
    assert "my_ops" not in sys.modules


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import hetero\n\nhetero.no_such\n", r"my_ops.py cannot be loaded \(.*my_ops.py:3\): AttributeError: "),
        ("def broken(:\n", r"my_ops.py cannot be loaded \(.*my_ops.py:1\): SyntaxError: "),
        ("import acme_missing\n", r"my_ops.py cannot be loaded \(.*my_ops.py:1\): ModuleNotFoundError: "),
        ("x = 1\n", "my_ops.py holds no extensions: it needs an Extension or an operation's class"),
        ("extensions = [7]\n", "7 cannot be an extension"),
        (
            "from hetero.frontend import OpExtension\n\nOpExtension('Elu', {'alfa': 'a'})\n",
            r"cannot be loaded \(.*my_ops.py:3\): OpExtension of Elu \(.*my_ops.py:3\): Elu has no attribute alfa",
        ),
    ],
)
def test_invalid_files(file, text, message):
    file.write_text(text)
    with pytest.raises((FrontendError, GraphError), match=message):
        Core().add_extension(file)
    assert str(file) not in sys.modules or "holds no" in message or "cannot be an" in message


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("nowhere.py", "there is no file of extensions nowhere.py"),
        (
            "libmy_ops.so",
            "libmy_ops.so cannot hold extensions, as it is a native library, .*: give a Python file, or the",
        ),
        ("folder/my_ops", "folder/my_ops cannot hold extensions"),
        ("acme_missing.ops", "the extensions of acme_missing.ops cannot be loaded: ModuleNotFoundError: "),
    ],
)
def test_sources_other_than_extension_files_are_refused(given, message):
    with pytest.raises(FrontendError, match=message):
        Core().add_extension(given)


def test_errors_and_warnings_name_the_class_of_a_file(file, caplog):
    core = Core()
    core.add_extension([file, OpExtension("Relu", "Plain")])
    line = 1 + OPERATIONS.splitlines().index("class Plain(Op):")
    assert f"replaces OpExtension of Plain ({file}:{line})" in caplog.text


def test_functions_of_a_file_are_named_by_their_line(file):
    file.write_text(
        OPERATIONS + "\n\ndef fail(node):\n    raise ValueError('no')\n\nf = ConversionExtension('F', fail)\n"
    )
    line = 1 + file.read_text().splitlines().index("def fail(node):")
    with pytest.raises(
        FrontendError, match=rf"F node 'mine': ConversionExtension of F \({file}:{line}\): ValueError: no"
    ):
        made("F", file)


def test_a_function_and_a_class_in_place():
    convert = ConversionExtension("Both", lambda node: ops.Negative(node.get_input(0)))
    core = Core()
    core.add_extension((convert,))
    found = core.compile_model(core.read_model(model("Both")), "TEMPLATE")(np.float32([1, 2]))[0]
    np.testing.assert_array_equal(found, [-1, -2])
