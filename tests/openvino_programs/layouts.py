"""Layouts: how they are written, of inputs and outputs, in files, and the batch size that they name."""

import tempfile
from importlib import import_module
from pathlib import Path

import numpy as np

TEXTS = [
    "NHWC", "nchw", "[N,C,H,W]", "[N, C, ...]", "N...C", "?", "...", "[...]", "", " ", "[]", "[ ]", "scalar",
    "[scalar]", "**SCALAR**", "N??C", "[batch,Channels,width]", "[height,depth,channel]", "NC...HW", "[N,C,...,H,W]",
    "NN", "[N,N]", "[N,batch]", "N....", "N.", "N..C", "N1", "[N,1]", "[N,C", "N,C]", "NC HW", "[ n , c ]", "......",
    "N...C...H", "[N,,C]", "[a_b,c1]", "[N,C-D]", "*", "[?,?]", "  NCHW ", "[N,C,H,W,]", "N_C", "[_]", "[?a]",
    "[N,...,...]", "NcC", "[..]", "[N;C]", "[,]", "[,N]", "[N,...C]", "[N...,C]", "[...,C]", "[...,]", "[,...]",
    "?...?", "B", "[b,N]", "[,,]", "[N,C]x", "[[N]]",
]  # fmt: skip


def attempt(call, *arguments):
    try:
        return call(*arguments)
    except Exception as error:
        return error


def relu_model(ov, shape):
    opset = import_module(f"{ov.__name__}.opset13")
    x = opset.parameter(shape, np.float32, name="x")
    return ov.Model([opset.relu(x)], [x], "model")


def program_texts(ov):
    def properties(text):
        layout = ov.Layout(text)
        names = {
            name: layout.get_index_by_name(name) for name in ("N", "channels", "h", "D", "1") if layout.has_name(name)
        }
        return str(layout), repr(layout), layout.to_string(), layout.empty, names

    return {text: attempt(properties, text) for text in TEXTS}


def program_equality(ov):
    layouts = [ov.Layout(text) for text in ("NC", "[batch,c]", "CN", "N?", "NC...", "", "...", "**SCALAR**")]
    return (
        [[a == b for a in layouts] for b in layouts], [[a != b for a in layouts] for b in layouts],
        layouts[0] == "[N,C]", layouts[0] != "nc", layouts[0] == 3, ov.Layout.scalar() == layouts[-1],
        ov.Layout() == layouts[5], ov.Layout(layout_str="NC") == "NC",
    )  # fmt: skip


def program_mistakes(ov):
    layout = ov.Layout("N...C")
    calls = (ov.Layout, 3), (ov.Layout, None), (ov.Layout, layout), (hash, layout), (layout.get_index_by_name, "H")
    return [attempt(*call) for call in calls]


def program_helpers(ov):
    helpers = ov.layout_helpers
    names = ("batch", "channels", "depth", "height", "width")
    found = []
    for text in ("NCDHW", "N...C", "?W", ""):
        layout = ov.Layout(text)
        found.append([getattr(helpers, f"has_{name}")(layout) for name in names])
        found.append([attempt(getattr(helpers, f"{name}_idx"), layout) for name in names])
    return found, attempt(helpers.batch_idx, "NC"), attempt(helpers.has_width, 3)


def program_inputs_and_outputs(ov):
    helpers, model = ov.layout_helpers, relu_model(ov, [1, 3, 8, 8])
    [parameter], [result] = model.get_parameters(), model.get_results()
    found = [parameter.layout, result.layout, helpers.get_layout(model.input())]
    parameter.layout = ov.Layout("NC??")
    found += [parameter.layout, parameter.get_layout(), helpers.get_layout(model.input())]
    result.set_layout(ov.Layout("N...C"))
    found += [result.layout, helpers.get_layout(model.output()), helpers.get_layout(result.input_value(0))]
    helpers.set_layout(model.output(), ov.Layout("CHWN"))
    found += [result.get_layout(), model.clone().get_results()[0].layout, model.clone().get_parameters()[0].layout]
    mistakes = [attempt(parameter.set_layout, wrong) for wrong in (ov.Layout("NC"), ov.Layout("NCHW...D"), "NCHW", 3)]
    mistakes.append(attempt(helpers.set_layout, result.input_value(0), ov.Layout("NCHW")))
    mistakes.append(attempt(helpers.set_layout, result.input(0), ov.Layout("NCHW")))
    parameter.set_layout(ov.Layout())
    return [str(layout) for layout in [*found, parameter.layout]], mistakes


def program_files(ov):
    model = relu_model(ov, [1, 3, 8, 8])
    model.get_parameters()[0].set_layout(ov.Layout("NCHW"))
    model.get_results()[0].set_layout(ov.Layout("[N,...,w]"))
    with tempfile.TemporaryDirectory() as folder:
        ov.serialize(model, str(Path(folder, "model.xml")))
        read = ov.Core().read_model(str(Path(folder, "model.xml")))
    compiled = ov.Core().compile_model(read, "CPU")
    get = ov.layout_helpers.get_layout
    return [str(layout) for layout in (
        read.get_parameters()[0].layout, read.get_results()[0].layout, get(compiled.input(0)), get(compiled.output(0)),
    )]  # fmt: skip


def program_damaged_files(ov):
    model, found = relu_model(ov, [1, 3, 8, 8]), []
    model.get_parameters()[0].set_layout(ov.Layout("NCHW"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.xml")
        ov.serialize(model, str(path))
        text = path.read_text()
        for wrong in ('layout="NN"', 'layout="NC"', 'layout=""', "", 'order="NCHW"'):
            path.write_text(text.replace('layout="[N,C,H,W]"', wrong))
            read = attempt(ov.Core().read_model, str(path))
            if isinstance(read, Exception):
                found.append(read)
            else:
                compiled = attempt(ov.Core().compile_model, read, "CPU")
                found.append([str(read.get_parameters()[0].layout), compiled if wrong == 'layout="NC"' else None])
    return found


def program_shapes_that_do_not_fit(ov):
    model = relu_model(ov, [1, 3, 8, 8])
    [parameter] = model.get_parameters()
    parameter.set_layout(ov.Layout("NCHW"))
    mistakes = [
        attempt(parameter.set_partial_shape, ov.PartialShape([2, 3])),
        attempt(model.reshape, ov.PartialShape([1, 2, 3])),
    ]
    model.reshape(ov.PartialShape([2, 3, -1, -1]))
    return mistakes, str(model.output().partial_shape)


def program_batch(ov):
    model = relu_model(ov, [1, 3, 8, 8])
    found = [attempt(ov.get_batch, model), attempt(ov.set_batch, model, 2)]
    model.get_parameters()[0].layout = ov.Layout("...NW")

    def shapes():
        return str(ov.get_batch(model)), str(model.input().partial_shape), str(model.output().partial_shape)

    found.append(shapes())
    for batch in (4, ov.Dimension(1, 5), -1, ov.Dimension(2)):
        ov.set_batch(model, batch)
        found.append(shapes())
    ov.set_batch(model)
    found.append(shapes())
    ov.set_batch(model, batch_size=3)
    found.append(shapes())
    ov.set_batch(model, dimension=ov.Dimension(5))
    found.append(shapes())
    return found, [attempt(ov.set_batch, model, wrong) for wrong in ("2", (1, 2), 1.5)], attempt(ov.get_batch, 3)


def program_batch_of_several_inputs(ov):
    opset = import_module(f"{ov.__name__}.opset13")
    found = []
    for shapes, layouts in (
        ([[1, 3], [2, 3]], ["NC", "NC"]), ([[2, 3], [2, 3]], ["CN", "CD"]), ([[2, 3], [-1, 3]], ["NC", "NC"]),
        ([[...], [2, 3]], ["N...", "NC"]), ([[1, 3], [1, 3]], ["CH", ""]),
    ):  # fmt: skip
        parameters = [
            opset.parameter(ov.PartialShape.dynamic() if ... in shape else shape, np.float32) for shape in shapes
        ]
        model = ov.Model([opset.relu(x) for x in parameters], parameters, "model")
        for parameter, layout in zip(parameters, layouts):
            parameter.layout = ov.Layout(layout)
        found.append(attempt(lambda m=model: str(ov.get_batch(m))))
        found.append(attempt(ov.set_batch, model, 7))
        found.append([str(x.partial_shape) for x in model.inputs])
    fixed = opset.parameter([1, 3], np.float32)
    fixed.layout = ov.Layout("NC")
    model = ov.Model([opset.reshape(fixed, np.array([1, 3]), False)], [fixed], "model")
    return found, attempt(ov.set_batch, model, 5), str(model.input().partial_shape)
