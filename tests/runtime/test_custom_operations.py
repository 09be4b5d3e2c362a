"""Custom operations in exported, imported and cached models."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import hetero
from hetero import Core, Model, Op, Parameter, ops
from hetero.core.types import Type
from hetero.runtime.model_cache import model_hash
from hetero.system.errors import BlobError
from tests.custom_operations import Power, X, classes

core = Core()


def model() -> Model:
    """Return a model with custom operations in each style, and one of hetero's operations."""
    _, scaled, _ = classes(hetero)
    x = Parameter(Type.f32, [-1, 3], name="x")
    sum = scaled([ops.Relu(Power(x, exponent=3)), x])
    sum.attributes.update(factor=0.5, names=["a", "b"], negate=True)
    return Model([sum], [x], "mine")


@pytest.mark.parametrize("device", ["TEMPLATE", "HETERO:TEMPLATE"])
def test_exported_and_imported(device):
    compiled = core.compile_model(model(), device)
    expected = -0.5 * (np.maximum(X**3, 0) + X)
    np.testing.assert_allclose(compiled([X])[0], expected)
    np.testing.assert_allclose(core.import_model(compiled.export_model(), device)([X])[0], expected)


class Needs(Op):
    """An operation that readers cannot create, because its constructor needs arguments."""

    def __init__(self, inputs):
        super().__init__(self, inputs)

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

    def evaluate(self, outputs, inputs):
        outputs[0].data[:] = inputs[0].data
        return True


class Holds(Needs):
    """An operation with a number that visit_attributes does not visit."""

    def __init__(self, inputs=None, factor=1.0):
        self.factor = factor
        super().__init__(inputs)


class CannotBeShown(Holds):
    def visit_attributes(self, visitor):
        self.factor = visitor.on_attribute("factor", self.factor)
        return True


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda x: Needs([x]), "Needs cannot be constructed without arguments, as frontends do: "),
        (lambda x: Holds([x], 2.0), "has factor = 2.0, which Holds.visit_attributes does not visit"),
        (lambda x: CannotBeShown([x], {}), "attribute factor cannot be {}, it takes a number, a string"),
    ],
)  # fmt: skip
def test_operations_that_cannot_be_restored_are_not_exported(tmp_path, caplog, make, problem):
    """With a cache folder such a model is compiled each time."""
    x = Parameter(Type.f32, [2, 3], name="x")
    model = Model([make(x)], [x])
    with pytest.raises(BlobError, match=f"cannot be exported: .*{problem}"):
        core.compile_model(model, "TEMPLATE").export_model()
    assert core.compile_model(model, "TEMPLATE", {"CACHE_DIR": tmp_path})([X])[0].tolist() == X.tolist()
    assert "is not cached: " in caplog.text


def test_import_uses_the_last_definition_of_a_class():
    def define(factor):
        class Again(Power):
            def evaluate(self, outputs, inputs):
                outputs[0].data[:] = factor * inputs[0].data
                return True

        return Again

    x = Parameter(Type.f32, [2, 3], name="x")
    first, second = (define(factor) for factor in (2, 3))
    blob = core.compile_model(Model([first(x)], [x]), "TEMPLATE").export_model()
    assert second is not first
    np.testing.assert_array_equal(core.import_model(blob, "TEMPLATE")([X])[0], 3 * X)


# Defines an operation that multiplies by FACTOR, and exports, imports or compiles a model with it.
PROGRAM = textwrap.dedent("""
    import sys
    import numpy as np
    from hetero import Core, Model, Op, Parameter, ops
    from hetero.graph import Attribute

    class Times(Op):
        inputs = ("x",)
        extra = Attribute(float, 1.0)

        def validate_and_infer_types(self):
            self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

        def evaluate(self, outputs, inputs):
            outputs[0].data[:] = FACTOR * self.extra * inputs[0].data
            return True

    x = Parameter("f32", [2], name="x")
    model = Model([ops.Add(Times(x), Times(np.float32([1, 2]), extra=10))], [x])
    how, file, device = sys.argv[1:]
    if how == "export":
        compiled = Core().compile_model(model, device)
        open(file, "wb").write(compiled.export_model().getbuffer())
    elif how == "import":
        compiled = Core().import_model(file, device)
    else:
        compiled = Core().compile_model(model, device, {"CACHE_DIR": file})
        print(compiled.get_property("LOADED_FROM_CACHE"))
    print(compiled([np.ones(2, np.float32)])[0].tolist())
""")


def run(folder, factor, *arguments):
    """Run PROGRAM, written to a file with this factor, and return the lines that it prints."""
    program = folder / "program.py"
    program.write_text(PROGRAM.replace("FACTOR", str(factor)))
    done = subprocess.run([sys.executable, program, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_import_in_another_process(tmp_path):
    for device in ("TEMPLATE", "HETERO:TEMPLATE"):
        assert run(tmp_path, 2, "export", tmp_path / "blob", device) == ["[22.0, 42.0]"]
        assert run(tmp_path, 2, "import", tmp_path / "blob", device) == ["[22.0, 42.0]"]


@pytest.mark.slow
def test_import_without_the_class(tmp_path):
    run(tmp_path, 2, "export", tmp_path / "blob", "TEMPLATE")
    code = f"from hetero import Core; Core().import_model({os.fspath(tmp_path / 'blob')!r}, 'TEMPLATE')"
    stderr = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr
    assert "operations extension::Times, the class Times of __main__, which is not defined: import it" in stderr


@pytest.mark.slow
def test_cache_ignores_models_compiled_with_an_older_class(tmp_path):
    """The cached model contains constants that were folded by the old class."""
    cache = tmp_path / "cache"
    assert run(tmp_path, 2, "cache", cache, "TEMPLATE") == ["False", "[22.0, 42.0]"]
    assert run(tmp_path, 2, "cache", cache, "TEMPLATE") == ["True", "[22.0, 42.0]"]
    assert run(tmp_path, 3, "cache", cache, "TEMPLATE") == ["False", "[33.0, 63.0]"]


def of_a_function(factor):
    """Return a class whose code depends on an argument, and so on more than its source file."""

    class Local(Power):
        def evaluate(self, outputs, inputs):
            outputs[0].data[:] = factor * inputs[0].data
            return True

    return Local


def test_classes_defined_in_functions_have_different_hashes():
    def hashed(cls):
        x = Parameter(Type.f32, [2], name="x")
        return model_hash(Model([cls(x, name="y")], [x]))

    two, three = of_a_function(2), of_a_function(3)
    assert hashed(two) == hashed(two) != hashed(three)
