"""convert_model on modules and exported programs in memory."""

import io

import numpy as np
import pytest
import torch
from torch import nn

import hetero
from hetero.system.errors import FrontendError
from tests.test_readme import blocks


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.GELU())

    def forward(self, x, scale=None):
        y = x + self.inner(x)
        return y if scale is None else y * scale


def infer(model, *arrays):
    return hetero.Core().compile_model(model, "TEMPLATE")([array.numpy() for array in arrays]).to_tuple()


def test_example_input():
    module, x = Residual(), torch.rand(2, 4)
    module.inner[1].eval()
    model = hetero.convert_model(module, example_input=x)
    assert module.training and not module.inner[1].training, "the modules keep their modes"
    np.testing.assert_allclose(infer(model, x)[0], module.eval()(x).detach(), atol=1e-5)
    assert any(node.friendly_name.startswith("inner.0/") for node in model.get_ops())


def test_documentation():
    names = {}
    with torch.no_grad():
        exec(blocks("python", "docs/models.md")[1].replace("HETERO:GPU,TEMPLATE", "TEMPLATE"), names)
        x = names["x"]
        expected = names["module"](x)
        np.testing.assert_allclose(names["fast"](x), expected, atol=1e-5)
    np.testing.assert_allclose(infer(names["model"], x)[0], expected, atol=1e-5)


def test_keyword_arguments_and_names():
    module, x, scale = Residual().eval(), torch.rand(2, 4), torch.rand(4)
    model = hetero.convert_model(module, example_input={"x": x, "scale": scale})
    assert [port.any_name for port in model.inputs] == ["x", "scale"]
    np.testing.assert_allclose(infer(model, x, scale)[0], module(x, scale).detach(), atol=1e-5)


@pytest.mark.parametrize("shapes", [[-1, 4], [[-1, 4]], {"x": [-1, 4]}, hetero.PartialShape([-1, 4])])
def test_dynamic_shapes(shapes):
    module = Residual().eval()
    model = hetero.convert_model(module, example_input=torch.rand(1, 4), input=shapes)
    assert model.input().partial_shape == hetero.PartialShape([-1, 4])
    for rows in (1, 2, 5):
        x = torch.rand(rows, 4)
        np.testing.assert_allclose(infer(model, x)[0], module(x).detach(), atol=1e-5)


class Cached(nn.Module):
    """A step of a decoder, with the order of arguments and the nested past that exporters of decoders give it."""

    def forward(self, x, past, scale):
        return [torch.cat([keys, x * scale], 1) + values.sum() for keys, values in past]


def test_shapes_of_the_tensors_of_all_arguments():
    """They are in the order of ``forward``, whatever that of the example is, as are the model's inputs."""
    x, scale, module = torch.rand(1, 2, 3), torch.rand(1), Cached()
    past = [(torch.rand(1, 4, 3), torch.rand(2)) for _ in range(2)]
    shapes = [[1, -1, 3], *([1, -1, 3], [-1]) * 2, [1]]
    model = hetero.convert_model(module, example_input={"scale": scale, "past": past, "x": x}, input=shapes)
    assert [port.partial_shape for port in model.inputs] == [hetero.PartialShape(shape) for shape in shapes]
    past = [(torch.rand(1, 5, 3), torch.rand(7)) for _ in range(2)]
    found = infer(model, x, *(tensor for pair in past for tensor in pair), scale)
    for ours, theirs in zip(found, module(x, past, scale), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_lengths_of_several_element_types():
    module = Function(lambda x, rows: x.reshape(rows.item(), x.shape[1], 2))
    x, rows = torch.rand(4, 3), torch.tensor(2, dtype=torch.int32)
    model = hetero.convert_model(module, example_input=(x, rows), input=[[-1, -1], []])
    np.testing.assert_array_equal(infer(model, x, rows)[0], module(x, rows))


def test_a_shape_of_torch():
    model = hetero.convert_model(Residual(), example_input=torch.rand(3, 4), input=torch.Size([3, 4]))
    assert model.input().shape == (3, 4)


@pytest.mark.parametrize("make", [
    lambda module, x: torch.jit.trace(module, x), lambda module, x: torch.jit.script(module),
    lambda module, x: torch.jit.freeze(torch.jit.trace(module, x)),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_modules_of_torch_script(make):
    module, x = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.GELU()).eval(), torch.rand(2, 4)
    script, file = make(module, x), io.BytesIO()
    for example in (x, {script.forward.schema.arguments[1].name: x}):
        found = infer(hetero.convert_model(script, example_input=example), x)[0]
        np.testing.assert_allclose(found, module(x).detach(), atol=1e-5)
    with pytest.raises(FrontendError, match="static shapes only: give the torch.nn.Module that it was made from"):
        hetero.convert_model(script, example_input=x, input=[-1, 4])
    torch.jit.save(script, file)
    with pytest.raises(FrontendError, match="a TorchScript archive: in Python, give the module that torch.jit.load"):
        hetero.Core().read_model(file.getvalue())


@pytest.mark.filterwarnings("ignore")
def test_a_module_of_torch_script_that_torch_cannot_convert():
    with pytest.raises(FrontendError, match="torch cannot convert the module of TorchScript: give the torch.nn.Module"):
        hetero.convert_model(torch.jit.script(Residual().eval()), example_input=torch.rand(2, 4))


@pytest.mark.parametrize("new_format", [True, False])
def test_files_of_torch_save(new_format, tmp_path):
    torch.save(nn.Linear(2, 2).state_dict(), tmp_path / "x.pth", _use_new_zipfile_serialization=new_format)
    with pytest.raises(FrontendError, match=r"x\.pth is a file of torch\.save, which has weights .* convert_model"):
        hetero.Core().read_model(tmp_path / "x.pth")


def test_shapes_of_torch():
    module, size = Residual().eval(), torch.Size([3, 4])
    for shapes in (size, [size], ("x", size), {"x": size}):
        model = hetero.convert_model(module, example_input=torch.rand(3, 4), input=shapes)
        assert model.input().shape == (3, 4)


def test_lists_of_tensors():
    module = Function(lambda parts: torch.cat(parts))
    x, y = torch.rand(1, 3), torch.rand(4, 3)
    model = hetero.convert_model(module, example_input=([x, y],), input=[[-1, 3]])
    assert all(port.partial_shape[0].is_dynamic for port in model.inputs)
    np.testing.assert_array_equal(infer(model, y, y[:3])[0], module([y, y[:3]]))


def test_shapes_without_an_example():
    assert hetero.convert_model(Residual(), input=[3, 4]).input().shape == (3, 4)
    indices = hetero.convert_model(nn.Embedding(8, 4), input=([-1, 5], hetero.Type.i64)).input()
    assert (indices.partial_shape, indices.element_type) == (hetero.PartialShape([-1, 5]), hetero.Type.i64)


def test_a_dimension_that_the_module_fixes():
    with pytest.raises(FrontendError, match="torch cannot export Function"):
        hetero.convert_model(Function(lambda x: x.reshape(2, 2)), example_input=torch.rand(4), input=[-1])


def test_arguments_that_a_module_lacks():
    with pytest.raises(FrontendError, match="Residual has no argument z in its example; it has x"):
        hetero.convert_model(Residual(), example_input=torch.rand(2, 4), input={"z": [-1, 4]})
    with pytest.raises(FrontendError, match="dynamo=False"):
        hetero.convert_model(Residual(), example_input=torch.rand(2, 4), dynamo=False)


def test_weights_are_shared_unless_that_is_refused():
    module, x = nn.Linear(2, 2, bias=False), torch.rand(1, 2)
    shared = hetero.convert_model(module, example_input=x)
    copied = hetero.convert_model(module, example_input=x, share_weights=False)
    before = module(x).detach().numpy().copy()
    with torch.no_grad():
        module.weight.zero_()
    np.testing.assert_array_equal(infer(shared, x)[0], 0)
    np.testing.assert_allclose(infer(copied, x)[0], before, atol=1e-6)


def test_an_exported_program():
    module, x = Residual().eval(), torch.rand(2, 4)
    program = torch.export.export(module, (x,))
    for model in (hetero.convert_model(program), hetero.Core().read_model(program)):
        np.testing.assert_allclose(infer(model, x)[0], module(x).detach(), atol=1e-5)


def test_a_module_that_torch_cannot_export():
    class Unknown(nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    with pytest.raises(FrontendError, match="torch cannot export Unknown"):
        hetero.convert_model(Unknown(), example_input=torch.rand(2))


class Function(nn.Module):
    def __init__(self, function) -> None:
        super().__init__()
        self.forward = function


def _reshaped_and_changed(x):
    y = x.clone()
    y.reshape(-1).add_(1)
    return y


@pytest.mark.parametrize(("shapes", "message"), [
    (3, "not by 3"), ([-1, 4, 4], r"shape \[2, 4\], to which the shape .* does not apply"), ([{}], "shape"),
])  # fmt: skip
def test_shapes_that_do_not_apply(shapes, message):
    with pytest.raises(FrontendError, match=message):
        hetero.convert_model(Residual(), example_input=torch.rand(2, 4), input=shapes)


def test_element_types_of_torch():
    model = hetero.convert_model(nn.Linear(4, 2), input=([2, 4], torch.float32))
    assert model.input().element_type is hetero.Type.f32
    narrow = hetero.convert_model(nn.Linear(4, 2).to(torch.bfloat16), input=([2, 4], torch.bfloat16))
    assert narrow.input().element_type is hetero.Type.bf16


def test_weights_are_not_copied_on_the_way():
    module = nn.Linear(4096, 4096)
    program = torch.export.export(module, (torch.rand(1, 4096),))
    assert next(iter(hetero.convert_model(program).get_ordered_ops())) is not None
    shared = [node.data for node in hetero.convert_model(program).get_ops() if node.get_type_name() == "Constant"]
    weight = next(data for data in shared if data.shape == (4096, 4096))
    assert weight.__array_interface__["data"][0] == module.weight.data_ptr()


@pytest.mark.parametrize(("function", "message"), [
    (lambda x: nn.functional.dropout(x, 0.5, training=True), "after eval"),
    (lambda x: torch.fft.fft(x).real, "scalar type 10"),
    (lambda x: torch.mode(x), "torch cannot write it"),
])  # fmt: skip
def test_programs_that_are_not_supported(function, message):
    program = torch.export.export(Function(function), (torch.rand(2, 3),))
    with pytest.raises(FrontendError, match=message):
        hetero.convert_model(program)


def test_changes_in_place_that_a_file_leaves_unclear():
    """A program in memory is decomposed then."""
    module, x = Function(_reshaped_and_changed), torch.rand(2, 3)
    program, file = torch.export.export(module, (x,)), io.BytesIO()
    np.testing.assert_allclose(infer(hetero.convert_model(program), x)[0], module(x))
    torch.export.save(program, file)
    with pytest.raises(FrontendError, match="unknown whether 'clone' shares memory with 'reshape'"):
        hetero.Core().read_model(file.getvalue())


def test_element_types_that_numpy_lacks():
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            weight = torch.tensor([0.5, -1.5])
            self.register_buffer("wide", weight.to(torch.bfloat16))
            self.register_buffer("narrow", weight.to(torch.float8_e4m3fn))

        def forward(self, x):
            return x * self.wide.float() * self.narrow.float()

    module, x = Scaled(), torch.rand(3, 2)
    np.testing.assert_allclose(infer(hetero.convert_model(module, example_input=x), x)[0], module(x), rtol=1e-6)


def test_an_example_is_needed():
    with pytest.raises(FrontendError, match="needs example_input"):
        hetero.convert_model(Residual())


def test_decoders_of_programs_for_openvino():
    """As optimum-intel converts: a decoder with the module and its inputs, and shapes and types by input."""
    from hetero.frontend.pytorch.patch_model import __make_16bit_traceable as make_16bit_traceable
    from hetero.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder
    from hetero.tools.ovc import convert_model

    module = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU()).eval()
    x = torch.rand(2, 4)
    make_16bit_traceable(module)
    decoder = TorchScriptPythonDecoder(module, example_input=(x,), trace_kwargs={"check_trace": False})
    model = convert_model(decoder, example_input=(x,), input=[(hetero.PartialShape([-1, 4]), hetero.Type.f32)])
    assert str(model.input(0).partial_shape) == "[?,4]"
    x = torch.rand(5, 4)
    found = hetero.Core().compile_model(model, "TEMPLATE")(x.numpy())[0]
    np.testing.assert_allclose(found, module(x).detach().numpy(), rtol=1e-5, atol=1e-6)
    with pytest.raises(hetero.HeteroError, match="modules cannot be replaced by operations"):
        TorchScriptPythonDecoder(module, module_extensions=[hetero.frontend.pytorch.ModuleExtension(module, "op")])
