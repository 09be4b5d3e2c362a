"""PrePostProcessor: what it prints, what it makes of a model, and what it refuses."""

from importlib import import_module

import numpy as np

from tests.openvino_programs.layouts import attempt

# Steps by name. Each is set up by a function of the package's modules and the processor.
STEPS = {
    "nothing": lambda ov, p: None,
    "chain": lambda ov, p: (
        tensor(p).set_element_type(ov.Type.u8).set_layout(ov.Layout("NHWC")).set_spatial_static_shape(12, 10)
        .set_color_format(color(ov).BGR),
        steps(p).convert_element_type(ov.Type.f32).convert_color(color(ov).RGB).resize(alg(ov).RESIZE_LINEAR)
        .mean([1.0, 2.0, 3.0]).scale(2.0).scale([1.0, 2.5, 3.25]).convert_layout("NCHW").reverse_channels()
        .crop([0, 0, 0, 0], [1, 3, 8, 8]),
        p.input().model().set_layout(ov.Layout("NCHW")),
        p.output().postprocess().convert_element_type(ov.Type.f16),
        p.output().tensor().set_layout("NHWC").set_element_type(ov.Type.f64),
        p.output().model().set_layout("NCHW"),
    ),
    "model layout": lambda ov, p: (tensor(p).set_layout("NHWC"), p.input().model().set_layout("NCHW")),
    "convert_layout": lambda ov, p: (tensor(p).set_layout("NHWC"), steps(p).convert_layout("NCHW")),
    "convert_layout to the model's": lambda ov, p: (
        tensor(p).set_layout("NHWC"), steps(p).convert_layout(""), p.input().model().set_layout("NCHW"),
    ),
    "layout of three dimensions": lambda ov, p: (tensor(p).set_layout("HWC"), p.input().model().set_layout("NCHW")),
    "convert_layout by dimensions": lambda ov, p: steps(p).convert_layout([0, 3, 1, 2]),
    "by dimensions, tensor layout": lambda ov, p: (
        tensor(p).set_layout("NHWC"), steps(p).convert_layout([0, 3, 1, 2]),
    ),
    "by dimensions, model layout": lambda ov, p: (
        p.input().model().set_layout("NCHW"), steps(p).convert_layout([0, 3, 1, 2]),
    ),
    "by dimensions, twice": lambda ov, p: (
        tensor(p).set_layout("HWNC"), steps(p).convert_layout([2, 3, 0, 1]).convert_layout([0, 1, 3, 2]),
    ),
    "by no dimensions": lambda ov, p: steps(p).convert_layout([]),
    "by a dimension twice": lambda ov, p: steps(p).convert_layout([0, 3, 1, 1]),
    "by a missing dimension": lambda ov, p: steps(p).convert_layout([0, 4, 1, 2]),
    "ellipses": lambda ov, p: (tensor(p).set_layout("NC..."), p.input().model().set_layout("N...C")),
    "unnamed dimensions": lambda ov, p: (tensor(p).set_layout("?C??"), p.input().model().set_layout("NHWC")),
    "unnamed dimensions of the model": lambda ov, p: (
        tensor(p).set_layout("NHWC"), p.input().model().set_layout("?C??"),
    ),
    "spatial dynamic shape": lambda ov, p: (
        tensor(p).set_spatial_dynamic_shape().set_layout("NHWC"), p.input().model().set_layout("NCHW"),
        steps(p).resize(alg(ov).RESIZE_CUBIC),
    ),
    "resize twice": lambda ov, p: (
        p.input().model().set_layout("NCHW"),
        steps(p).resize(alg(ov).RESIZE_BILINEAR_PILLOW, 4, 4).resize(alg(ov).RESIZE_BICUBIC_PILLOW),
    ),
    "resize by keyword": lambda ov, p: (
        p.input().model().set_layout("NCHW"), steps(p).resize(alg=alg(ov).RESIZE_NEAREST, dst_height=8, dst_width=8),
    ),
    "resize to a wrong size": lambda ov, p: (
        p.input().model().set_layout("NCHW"), steps(p).resize(alg(ov).RESIZE_LINEAR, 2, 2),
    ),
    "resize without layout": lambda ov, p: steps(p).resize(alg(ov).RESIZE_LINEAR),
    "set_shape and crop": lambda ov, p: (
        tensor(p).set_shape([1, 3, 20, 20]), steps(p).crop([0, 0, 2, 2], [1, 3, 10, -10]),
    ),
    "set_shape dynamic": lambda ov, p: (
        tensor(p).set_shape(ov.PartialShape([-1, 3, -1, -1])), p.input().model().set_layout("NCHW"),
        steps(p).resize(alg(ov).RESIZE_LINEAR),
    ),
    "set_shape by an array": lambda ov, p: tensor(p).set_shape(np.array([1, 3, -1, 8])),
    "set_from a tensor": lambda ov, p: tensor(p).set_from(ov.Tensor(np.zeros([1, 3, 8, 8], np.uint8))),
    "set_from an array": lambda ov, p: tensor(p).set_from(np.zeros([1, 3, 8, 8], np.int16)),
    "memory type": lambda ov, p: tensor(p).set_memory_type("GPU_SURFACE"),
    "no memory type": lambda ov, p: tensor(p).set_memory_type(""),
    "pad": lambda ov, p: (
        tensor(p).set_shape([1, 3, 6, 6]), steps(p).pad([0, 0, 1, 1], [0, 0, 1, 1], 0.5, padding(ov).CONSTANT),
    ),
    "pad reflecting": lambda ov, p: (
        tensor(p).set_shape([1, 3, 6, 6]), steps(p).pad([0, 0, 1, 1], [0, 0, 1, 1], [1.5], padding(ov).REFLECT),
    ),
    "pad by several values": lambda ov, p: (
        tensor(p).set_shape([1, 3, 6, 6]), steps(p).pad([0, 0, 1, 1], [0, 0, 1, 1], [1, 2], padding(ov).SYMMETRIC),
    ),
    "pad by too few": lambda ov, p: steps(p).pad([0, 0, 1], [0, 0, 1, 1], 0, padding(ov).SYMMETRIC),
    "pad too much": lambda ov, p: steps(p).pad([0, 0, 1, 1], [0, 0, 1, 1], 0, padding(ov).CONSTANT),
    "custom": lambda ov, p: (
        steps(p).custom(lambda x: opset(ov).abs(x).output(0)),
        p.output().postprocess().custom(lambda x: opset(ov).sqrt(x).output(0)),
    ),
    "custom that raises": lambda ov, p: steps(p).custom(lambda x: x / {}["missing"]),
    "mean of integers": lambda ov, p: (tensor(p).set_element_type(ov.Type.u8), steps(p).mean(2.0)),
    "scale of integers": lambda ov, p: (tensor(p).set_element_type(ov.Type.i32), steps(p).scale([2])),
    "mean of too few channels": lambda ov, p: (p.input().model().set_layout("NCHW"), steps(p).mean([1, 2.0])),
    "mean without layout": lambda ov, p: steps(p).mean([1, 2.0, 3]),
    "mean of nothing": lambda ov, p: (p.input().model().set_layout("NCHW"), steps(p).mean([])),
    "mean and scale": lambda ov, p: steps(p).mean([0.1]).scale([2]).mean(1e-7).scale(123456789),
    "reverse channels without layout": lambda ov, p: steps(p).reverse_channels(),
    "type": lambda ov, p: (tensor(p).set_element_type(ov.Type.u8), steps(p).convert_element_type()),
    "unknown type": lambda ov, p: tensor(p).set_element_type(ov.Type.dynamic),
    "unknown type, converted": lambda ov, p: (
        tensor(p).set_element_type(ov.Type.dynamic), steps(p).convert_element_type(ov.Type.f32),
    ),
    "contradicting tensor layout": lambda ov, p: tensor(p).set_layout("NC"),
    "contradicting model layout": lambda ov, p: p.input().model().set_layout("NC"),
    "contradicting layouts": lambda ov, p: (tensor(p).set_layout("CN"), p.input().model().set_layout("NC")),
    "layouts with other names": lambda ov, p: (tensor(p).set_layout("NHWD"), p.input().model().set_layout("NCHW")),
    "layouts of other rank": lambda ov, p: (tensor(p).set_layout("NCHWD"), p.input().model().set_layout("NCHW")),
    "squeezed names missing": lambda ov, p: (tensor(p).set_layout("HWQ"), p.input().model().set_layout("NCHW")),
    "squeezed unnamed": lambda ov, p: (tensor(p).set_layout("?HW"), p.input().model().set_layout("NCHW")),
    "squeezed from unnamed": lambda ov, p: (tensor(p).set_layout("CHW"), p.input().model().set_layout("NC??")),
    "spatial shape without layout": lambda ov, p: tensor(p).set_spatial_static_shape(2, 2),
    "output layout": lambda ov, p: (p.output().model().set_layout("NCHW"), p.output().tensor().set_layout("NHWC")),
    "output convert_layout": lambda ov, p: (
        p.output().model().set_layout("NCHW"), p.output().postprocess().convert_layout("NHWC"),
    ),
    "output convert_layout, no model layout": lambda ov, p: p.output().postprocess().convert_layout("NHWC"),
    "output by dimensions": lambda ov, p: p.output().postprocess().convert_layout([0, 2, 3, 1]),
    "output layouts of other rank": lambda ov, p: (
        p.output().model().set_layout("NC"), p.output().tensor().set_layout("NHWC"),
    ),
    "output that fails after the input is replaced": lambda ov, p: (
        tensor(p).set_layout("NHWC").set_element_type(ov.Type.u8), p.input().model().set_layout("NCHW"),
        p.output().postprocess().custom(lambda x: {}["missing"]),
    ),
    "output type": lambda ov, p: p.output().tensor().set_element_type(ov.Type.u8),
    "output convert_element_type": lambda ov, p: (
        p.output().tensor().set_element_type(ov.Type.u8), p.output().postprocess().convert_element_type(),
    ),
    "output type unknown": lambda ov, p: p.output().postprocess().convert_element_type(),
}  # fmt: skip
# Conversions of colors: from, to, names of planes.
COLORS = [
    ("NV12_SINGLE_PLANE", "RGB", []), ("NV12_SINGLE_PLANE", "BGR", []), ("NV12_SINGLE_PLANE", "GRAY", []),
    ("I420_SINGLE_PLANE", "GRAY", []), ("I420_THREE_PLANES", "GRAY", []), ("NV12_TWO_PLANES", "GRAY", []),
    ("BGR", "GRAY", []), ("NV12_TWO_PLANES", "RGB", ["y", "uv"]), ("NV12_TWO_PLANES", "BGR", []),
    ("NV12_TWO_PLANES", "RGBX", []), ("I420_SINGLE_PLANE", "RGB", []), ("I420_SINGLE_PLANE", "BGR", []),
    ("I420_THREE_PLANES", "RGB", ["y", "u", "v"]), ("I420_THREE_PLANES", "BGR", []), ("RGB", "BGR", []),
    ("BGR", "RGB", []), ("RGBX", "RGB", []), ("RGBX", "BGR", []), ("BGRX", "RGB", []), ("BGRX", "BGR", []),
    ("RGB", "GRAY", []), ("GRAY", "RGB", []), ("RGB", "RGBX", []), ("RGBX", "GRAY", []), ("RGB", "RGB", []),
    ("RGBX", None, []), ("NV12_TWO_PLANES", None, []), ("NV12_SINGLE_PLANE", None, []), ("GRAY", None, []),
    ("UNDEFINED", "RGB", []), ("I420_THREE_PLANES", None, []),
]  # fmt: skip


def opset(ov):
    return import_module(f"{ov.__name__}.opset13")


def color(ov):
    return preprocess(ov).ColorFormat


def alg(ov):
    return preprocess(ov).ResizeAlgorithm


def padding(ov):
    return preprocess(ov).PaddingMode


def preprocess(ov):
    return import_module(f"{ov.__name__}.preprocess")


def tensor(processor):
    return processor.input().tensor()


def steps(processor):
    return processor.input().preprocess()


def relu_model(ov, shape=(1, 3, 8, 8), name="in"):
    x = opset(ov).parameter(list(shape), np.float32, name="x")
    x.output(0).set_names({name})
    relu = opset(ov).relu(x)
    relu.set_friendly_name("relu")
    relu.output(0).set_names({"out"})
    return ov.Model([relu], [x], "model")


def printed(processor):
    """Return what the processor prints, without the text of an error."""
    return attempt(lambda: str(processor).partition("\nError occurred: ")[0])


def summary(model):
    """Return the ports with names, types, shapes and layouts, and the kinds of operations.

    Generated names are left out: OpenVINO gives one to a nameless input when a Model is made of it, hetero always.
    """
    inputs, outputs = (
        [
            (
                sorted(name for name in port.get_names() if not name.startswith("Parameter_")),
                str(port.get_partial_shape()),
                port.get_element_type().get_type_name(),
                str(node.layout),
            )
            for port, node in zip(ports, nodes)
        ]
        for ports, nodes in ((model.inputs, model.get_parameters()), (model.outputs, model.get_results()))
    )
    kinds = sorted(
        op.get_type_name() if op.get_type_name() == "Constant" else op.get_friendly_name().split("_")[0]
        for op in model.get_ordered_ops()
        if op.get_type_name() != "Result"
    )
    sources = [result.input_value(0) for result in model.get_results()]
    return inputs, outputs, kinds, [(sorted(s.get_names()), s.get_node().get_friendly_name()) for s in sources]


def build(ov, set_up, **options):
    """Return what the processor prints, and the model or the error, and the model afterwards."""
    model = relu_model(ov, **options)
    processor = preprocess(ov).PrePostProcessor(model)
    failure = attempt(set_up, ov, processor)
    if isinstance(failure, Exception):
        return failure
    text, built = printed(processor), attempt(processor.build)
    if isinstance(built, Exception):
        return text, built, summary(model)
    return text, repr(processor)[:18], summary(built), summary(model)


def program_steps(ov):
    return {name: build(ov, set_up) for name, set_up in STEPS.items()}


def program_colors(ov):
    def set_up(source, target, sub_names):
        def convert(ov, processor):
            tensor(processor).set_color_format(getattr(color(ov), source), sub_names)
            if target:
                steps(processor).convert_color(getattr(color(ov), target))
            processor.input().model().set_layout("NCHW")

        return convert

    return {
        f"{source} to {target} of {shape}": build(ov, set_up(source, target, names), shape=shape)
        for source, target, names in COLORS
        for shape in ([1, 3, 8, 8], [1, 1, 8, 8], [-1, -1, -1, -1])
        if shape[1] == 1 or target != "GRAY"
    }


def program_unknown_shapes(ov):
    unknown = ov.PartialShape.dynamic()
    named = lambda layout: lambda ov, p: (tensor(p).set_layout(layout), p.input().model().set_layout("NHWC"))  # noqa: E731
    found = []
    for layout in ("NCHW", "NC...", "HWC"):
        x = opset(ov).parameter(unknown, np.float32, name="x")
        processor = preprocess(ov).PrePostProcessor(ov.Model([opset(ov).relu(x)], [x], "model"))
        named(layout)(ov, processor)
        found += [
            printed(processor).partition("\n")[2],
            attempt(lambda p=processor: str(p.build().input().get_partial_shape())),
        ]
    return found


def program_mistakes(ov):
    formats, pre = color(ov), preprocess(ov)
    processors = []  # OpenVINO's parts of a processor do not keep it alive

    def fresh():
        processors.append(pre.PrePostProcessor(relu_model(ov)))
        return processors[-1]

    calls = [
        (pre.PrePostProcessor, None), (pre.PrePostProcessor, 3), (fresh().input, 3), (fresh().input, -1),
        (fresh().input, "x"), (fresh().input, "missing"), (fresh().input, 1.0), (fresh().output, 3),
        (fresh().output, "missing"), (tensor(fresh()).set_layout, 3), (tensor(fresh()).set_layout, "NN"),
        (tensor(fresh()).set_element_type, np.float32), (tensor(fresh()).set_shape, "1,2"),
        (tensor(fresh()).set_shape, [1, (2, 3)]),
        (tensor(fresh()).set_shape, 3), (tensor(fresh()).set_from, [1, 2]),
        (tensor(fresh()).set_spatial_static_shape, -1, 2), (tensor(fresh()).set_memory_type, 3),
        (tensor(fresh()).set_color_format, 5), (tensor(fresh()).set_color_format, formats.NV12_TWO_PLANES, "ab"),
        (tensor(fresh()).set_color_format, formats.NV12_TWO_PLANES, ["a"]),
        (tensor(fresh()).set_color_format, formats.RGB, ["a"]),
        (tensor(fresh()).set_spatial_dynamic_shape().set_shape, [1, 2]),
        (tensor(fresh()).set_shape([1, 3, 2, 2]).set_spatial_dynamic_shape,),
        (tensor(fresh()).set_shape([1, 3, 2, 2]).set_spatial_static_shape, 1, 2),
        (steps(fresh()).convert_layout,), (steps(fresh()).convert_layout, 3),
        (steps(fresh()).convert_layout, [0, -1, 2, 1]), (steps(fresh()).convert_element_type, "f32"),
        (steps(fresh()).convert_color, 5), (steps(fresh()).custom, 3), (steps(fresh()).mean, "a"),
        (steps(fresh()).mean, ["a"]), (steps(fresh()).resize, 1, 2, 3),
        (steps(fresh()).resize, alg(ov).RESIZE_CUBIC, 2),
        (steps(fresh()).resize, alg(ov).RESIZE_CUBIC, 2.5, 3), (steps(fresh()).resize, alg(ov).RESIZE_CUBIC, -1, 3),
        (steps(fresh()).pad, [0], [0], 0, 2), (steps(fresh()).crop, 1, 2), (steps(fresh()).crop, [0, 0], [1, 2, 3]),
    ]  # fmt: skip
    too_few = fresh()
    steps(too_few).convert_layout([0, 2, 1])
    return [attempt(*call) for call in calls], attempt(too_few.build)


def program_accepted_forms(ov):
    processor = preprocess(ov).PrePostProcessor(model=relu_model(ov))
    processor.input(tensor_name="in").tensor().set_shape((1, 3, 8, 8))
    processor.input(input_index=0).preprocess().mean(np.array([1.0, 2, 3])).mean((1, 2, 3)).mean(np.float32(3)).mean(
        True
    )
    processor.input("in").model().set_layout(layout=ov.Layout("NCHW"))
    processor.output(output_index=0).postprocess().convert_layout(dst_layout=ov.Layout("NHWC"))
    processor.output("out").model().set_layout("NCHW")
    return printed(processor), summary(processor.build()), repr(preprocess(ov).PrePostProcessor(relu_model(ov)))


def program_several_inputs(ov):
    x, y = (opset(ov).parameter([1, 3], np.float32, name=name) for name in "xy")
    model = ov.Model([opset(ov).add(x, y), opset(ov).relu(x)], [x, y], "model")
    processor = preprocess(ov).PrePostProcessor(model)
    mistakes = attempt(processor.input), attempt(processor.output)
    processor.input(1).tensor().set_element_type(ov.Type.u8)
    processor.output(1).tensor().set_element_type(ov.Type.f16)
    model = processor.build()
    again = attempt(processor.build)
    types = [[p.get_element_type().get_type_name() for p in ports] for ports in (model.inputs, model.outputs)]
    return mistakes, types, [p.get_node().get_friendly_name() for p in model.inputs], again


def program_enumerations(ov):
    found = []
    for kind in (color(ov), alg(ov), padding(ov)):
        members = kind.__members__
        found += [(str(m), repr(m), m.name, m.value, int(m), name, m == m.value) for name, m in members.items()]
        found += [kind(2) == kind(2), kind(2) != kind(0), len({kind(2): 1, kind(0): 2})]
    return found


def program_ports_by_the_names_of_their_nodes(ov):
    parameter = ov.opset13.parameter([1, 2], np.float32, name="p")
    model = ov.Model([ov.opset13.relu(parameter)], [parameter], "m")
    processor = ov.preprocess.PrePostProcessor(model)
    processor.input("p").tensor().set_element_type(ov.Type.u8)
    return [str(processor), repr(processor.build().input("p"))]
