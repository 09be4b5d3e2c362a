"""Results of models with preprocessing and postprocessing."""

import tempfile
from pathlib import Path

import numpy as np

from tests.openvino_programs.preprocessing import alg, color, opset, padding, preprocess, relu_model, steps, tensor

# Tests of other devices change it.
DEVICE = "CPU"


def infer(ov, model, *arrays):
    compiled = ov.Core().compile_model(model, DEVICE, {"INFERENCE_PRECISION_HINT": "f32"})
    return [np.array(result) for result in compiled(list(arrays)).values()]


def image(*shape, dtype=np.uint8):
    values = np.random.default_rng(0).integers(0, 256, shape)
    return values.astype(dtype)


def preprocessed(ov, set_up, *arrays, model=None):
    processor = preprocess(ov).PrePostProcessor(model or relu_model(ov))
    set_up(processor)
    return infer(ov, processor.build(), *arrays)


def program_classifier(ov):
    """A picture as cameras give it, for a model as trainers leave it."""

    def set_up(p):
        tensor(p).set_element_type(ov.Type.u8).set_layout("NHWC").set_color_format(color(ov).BGR)
        tensor(p).set_spatial_static_shape(13, 21)
        steps(p).convert_element_type(ov.Type.f32).convert_color(color(ov).RGB).resize(alg(ov).RESIZE_LINEAR)
        steps(p).mean([123.7, 116.3, 103.5]).scale([58.4, 57.1, 57.4])
        p.input().model().set_layout("NCHW")
        p.output().model().set_layout("NCHW")
        p.output().tensor().set_layout("NHWC").set_element_type(ov.Type.f16)

    return preprocessed(ov, set_up, image(1, 13, 21, 3))


def program_resize(ov):
    found = {}
    for name, algorithm in alg(ov).__members__.items():
        for height, width in ((8, 8), (5, 19), (16, 16), (17, 3)):

            def set_up(p, algorithm=algorithm, size=(height, width)):
                tensor(p).set_layout("NHWC").set_spatial_static_shape(*size)
                steps(p).resize(algorithm)
                p.input().model().set_layout("NCHW")

            data = image(1, height, width, 3, dtype=np.float32)
            found[name, height, width] = preprocessed(ov, set_up, data)
    return found


def program_resize_of_bytes(ov):
    """Resize before the conversion to floating point: the results are bytes."""
    found = {}
    for name, algorithm in alg(ov).__members__.items():
        for height, width in ((8, 8), (16, 16), (5, 19), (17, 3)):

            def set_up(p, algorithm=algorithm, size=(height, width)):
                tensor(p).set_element_type(ov.Type.u8).set_layout("NHWC").set_spatial_static_shape(*size)
                steps(p).resize(algorithm)
                p.input().model().set_layout("NCHW")
                p.output().tensor().set_element_type(ov.Type.u8)

            found[name, height, width] = preprocessed(ov, set_up, image(1, height, width, 3))
    return found


def program_dynamic_sizes(ov):
    def set_up(p):
        tensor(p).set_element_type(ov.Type.u8).set_layout("NHWC").set_spatial_dynamic_shape()
        steps(p).convert_element_type(ov.Type.f32).resize(alg(ov).RESIZE_LINEAR).reverse_channels()
        p.input().model().set_layout("NCHW")

    return [preprocessed(ov, set_up, image(1, height, width, 3)) for height, width in ((8, 8), (11, 6), (40, 30))]


def program_video(ov):
    """Each video format to RGB and BGR, as bytes and as floating-point numbers."""
    planes = {
        "NV12_SINGLE_PLANE": [(1, 12, 8, 1)], "NV12_TWO_PLANES": [(1, 8, 8, 1), (1, 4, 4, 2)],
        "I420_SINGLE_PLANE": [(1, 12, 8, 1)], "I420_THREE_PLANES": [(1, 8, 8, 1), (1, 4, 4, 1), (1, 4, 4, 1)],
    }  # fmt: skip
    found = {}
    for source, shapes in planes.items():
        for target in ("RGB", "BGR"):
            for dtype in (np.uint8, np.float32):

                def set_up(p, source=source, target=target, dtype=dtype):
                    tensor(p).set_element_type(ov.Type(dtype)).set_color_format(getattr(color(ov), source))
                    steps(p).convert_color(getattr(color(ov), target))
                    p.input().model().set_layout("NCHW")

                data = [image(*shape, dtype=dtype) for shape in shapes]
                found[source, target, np.dtype(dtype).name] = preprocessed(ov, set_up, *data)
    return found


def program_video_resized(ov):
    def set_up(p):
        tensor(p).set_element_type(ov.Type.u8).set_color_format(color(ov).NV12_TWO_PLANES, ["y", "uv"])
        tensor(p).set_spatial_static_shape(12, 10)
        steps(p).convert_color(color(ov).RGB).convert_element_type(ov.Type.f32).resize(alg(ov).RESIZE_LINEAR)
        p.input().model().set_layout("NCHW")

    return preprocessed(ov, set_up, image(1, 12, 10, 1), image(1, 6, 5, 2))


def program_luminance(ov):
    found = {}
    for source, shapes in {
        "RGB": [(1, 8, 8, 3)], "BGR": [(1, 8, 8, 3)], "NV12_SINGLE_PLANE": [(1, 12, 8, 1)],
        "I420_THREE_PLANES": [(1, 8, 8, 1), (1, 4, 4, 1), (1, 4, 4, 1)],
    }.items():  # fmt: skip
        for dtype in (np.uint8, np.float32):

            def set_up(p, source=source, dtype=dtype):
                tensor(p).set_element_type(ov.Type(dtype)).set_color_format(getattr(color(ov), source))
                steps(p).convert_color(color(ov).GRAY)
                p.input().model().set_layout("NCHW")

            data = [image(*shape, dtype=dtype) for shape in shapes]
            found[source, np.dtype(dtype).name] = preprocessed(ov, set_up, *data, model=relu_model(ov, [1, 1, 8, 8]))
    return found


def program_luminance_of_any_size(ov):
    def set_up(p):
        tensor(p).set_color_format(color(ov).NV12_SINGLE_PLANE)
        steps(p).convert_color(color(ov).GRAY)
        p.input().model().set_layout("NCHW")

    model = relu_model(ov, [1, 1, -1, -1])
    return preprocessed(ov, set_up, image(1, 18, 8, 1, dtype=np.float32), model=model)


def program_channels_without_meaning(ov):
    found = {}
    for source in ("RGBX", "BGRX"):
        for target in ("RGB", "BGR"):

            def set_up(p, source=source, target=target):
                tensor(p).set_element_type(ov.Type.u8).set_color_format(getattr(color(ov), source))
                steps(p).convert_color(getattr(color(ov), target))
                p.input().model().set_layout("NCHW")

            found[source, target] = preprocessed(ov, set_up, image(1, 8, 8, 4))
    return found


def program_reversed_channels_of_unknown_number(ov):
    def set_up(p):
        steps(p).reverse_channels()
        p.input().model().set_layout("NCHW")

    return preprocessed(ov, set_up, image(1, 5, 2, 2, dtype=np.float32), model=relu_model(ov, [1, -1, 2, 2]))


def program_padding(ov):
    found = {}
    for name, mode in padding(ov).__members__.items():

        def set_up(p, mode=mode):
            tensor(p).set_shape([1, 3, 7, 5])
            steps(p).pad([0, 0, 0, 2], [0, 0, 1, 1], 2.5, mode)

        found[name] = preprocessed(ov, set_up, image(1, 3, 7, 5, dtype=np.float32))
    return found


def program_crop(ov):
    def set_up(p):
        tensor(p).set_shape([1, 3, 12, 20])
        steps(p).crop([0, 0, 1, -12], [1, 3, 9, -4])

    return preprocessed(ov, set_up, image(1, 3, 12, 20, dtype=np.float32))


def program_layouts(ov):
    """Transpositions in both directions, and dimensions that the user's tensor does not have."""
    found = {}
    for layout, shape in (("NHWC", (1, 4, 5, 3)), ("HWC", (4, 5, 3)), ("CWH", (3, 5, 4)), ("WCHN", (5, 3, 4, 1))):

        def set_up(p, layout=layout):
            tensor(p).set_layout(layout)
            p.input().model().set_layout("NCHW")
            p.output().model().set_layout("NCHW")
            p.output().tensor().set_layout("WHCN")

        data = image(*shape, dtype=np.float32)
        found[layout] = preprocessed(ov, set_up, data, model=relu_model(ov, [1, 3, 4, 5]))
    return found


def program_by_dimensions(ov):
    def set_up(p):
        steps(p).convert_layout([1, 3, 2, 0]).convert_layout([2, 0, 1, 3])
        p.output().postprocess().convert_layout([0, 3, 1, 2])

    return preprocessed(ov, set_up, image(4, 5, 3, 6, dtype=np.float32), model=relu_model(ov, [-1, -1, -1, -1]))


def program_custom_steps(ov):
    def set_up(p):
        tensor(p).set_element_type(ov.Type.i32)
        steps(p).convert_element_type(ov.Type.f32)
        steps(p).custom(lambda x: opset(ov).subtract(x, opset(ov).reduce_mean(x, [2, 3], True)).output(0))
        p.output().postprocess().custom(lambda x: opset(ov).reduce_sum(x, [1]).output(0)).convert_element_type(
            ov.Type.i64
        )

    return preprocessed(ov, set_up, image(1, 3, 8, 8, dtype=np.int32))


def program_files(ov):
    """A model with preprocessing is read from files as it was written."""
    processor = preprocess(ov).PrePostProcessor(relu_model(ov))
    tensor(processor).set_element_type(ov.Type.u8).set_color_format(color(ov).NV12_TWO_PLANES, ["y", "uv"])
    tensor(processor).set_memory_type("GPU_SURFACE")
    steps(processor).convert_color(color(ov).BGR).resize(alg(ov).RESIZE_NEAREST).convert_element_type(ov.Type.f32)
    steps(processor).mean([1, 2, 3]).reverse_channels()
    processor.input().model().set_layout("NCHW")
    with tempfile.TemporaryDirectory() as folder:
        ov.save_model(processor.build(), str(Path(folder, "model.xml")))
        model = ov.Core().read_model(str(Path(folder, "model.xml")))
        text = Path(folder, "model.xml").read_text()
    layouts = [str(parameter.layout) for parameter in model.get_parameters()]
    return layouts, text.count("GPU_SURFACE"), infer(ov, model, image(1, 8, 8, 1), image(1, 4, 4, 2))


def program_batch_after_layout(ov):
    def set_up(p):
        tensor(p).set_layout("NHWC")
        p.input().model().set_layout("NCHW")

    processor = preprocess(ov).PrePostProcessor(relu_model(ov))
    set_up(processor)
    model = processor.build()
    ov.set_batch(model, 3)
    return infer(ov, model, image(3, 8, 8, 3, dtype=np.float32))
