"""Inference: forms of inputs, results, requests and queues of requests."""

import importlib
import io
import os
import tempfile

import numpy as np

from tests.openvino_programs._errors import kind_of_error

ONES = np.ones([2, 2], np.float32)


def compiled(ov, element_type="f32", shape=(2, 2)):
    ops = ov.opset13
    data = ops.parameter(list(shape), getattr(ov.Type, element_type), name="data")
    data.output(0).set_names({"data"})
    result = data if element_type == "string" else ops.relu(data)
    if element_type != "string":
        result.output(0).set_names({"out"})
    return ov.compile_model(ov.Model([result], [data], "m"))


def raises_runtime_error(call):
    """Return whether a call raises RuntimeError; hetero's error for an index is an IndexError too."""
    try:
        call()
    except RuntimeError:
        return True
    return False


def program_inputs(ov):
    model = compiled(ov)
    inputs = [
        ONES, ONES.astype(np.int64), [ONES.astype(np.float64)], (ONES,), {"data": ONES}, {0: ONES},
        {model.input(): ONES}, ov.Tensor(ONES), {"data": ov.Tensor(ONES)},
    ]  # fmt: skip
    bad = [{"nope": ONES}, {1.5: ONES}, ONES[0], object(), [ONES, ONES]]
    errors = [kind_of_error(lambda value=value: model(value)) for value in bad]
    return [model(value)[0] for value in inputs], errors, raises_runtime_error(lambda: model({5: ONES}))


def program_inputs_of_other_types(ov):
    integers, bytes_ = compiled(ov, "i64"), compiled(ov, "u8")
    return integers(ONES * 1.7)[0], bytes_(ONES.astype(np.int64) * 300)[0]


def program_numbers(ov):
    model = compiled(ov, shape=())
    return [model(value)[0] for value in (3, 3.5, np.float64(3), np.array(3))]


def program_strings(ov):
    model = compiled(ov, "string", [-1])
    inputs = [["a", "bc"], [b"a", b"bc"], np.array(["a", "bc"]), np.array([b"a", b"bc"])]
    encoded = model(["a", "bc"], decode_strings=False)[0]
    request = model.create_infer_request()
    return [model(value)[0] for value in inputs], encoded, request.infer(["x"], decode_strings=False)[0]


def program_sharing(ov):
    model, data = compiled(ov), ONES.copy()
    request = model.create_infer_request()
    first = request.infer([data], share_inputs=True, share_outputs=True)[0]
    data += 1
    shared = request.get_input_tensor().data.copy()
    request.infer()
    called = model(data, share_inputs=False, share_outputs=True)[0]
    return shared, first, called


def program_results(ov):
    results = compiled(ov)(ONES)
    port = next(iter(results.keys()))
    return [
        results["out"], results[0], results[port], results.names(), list(results.to_dict().values()),
        results.to_tuple(), len(results), [name in results for name in ("out", 0, "x")],
        kind_of_error(lambda: results["x"]), kind_of_error(lambda: results[1]), kind_of_error(lambda: results[1.5]),
    ]  # fmt: skip


def program_requests(ov):
    model = compiled(ov)
    request = model.create_infer_request()
    seen = [request.userdata]
    request.set_callback(seen.append, "first")
    seen.append(request.userdata)
    for userdata in ("second", None):
        request.start_async(ONES, userdata)
        request.wait()
        seen.append(request.userdata)
    request.set_tensor(name="data", tensor=ov.Tensor(ONES * 3))
    request.set_output_tensors(outputs={0: ov.Tensor(ONES * 0)})
    request.infer()
    return [
        seen, request.get_tensor(port=model.input()).data.copy(), request.get_tensor(name="out").data.copy(),
        ov.InferRequest(request).infer(ONES * 2)[0], request.results[0],
        kind_of_error(lambda: request.get_tensor("nope")), kind_of_error(lambda: request.set_tensor("data", 3)),
        raises_runtime_error(lambda: request.get_input_tensor(4)), kind_of_error(lambda: model.input("nope")),
        raises_runtime_error(lambda: model.output(index=3)), model.output(tensor_name="out").any_name,
        model.input(index=0).any_name, request.get_compiled_model().output().any_name,
    ]  # fmt: skip


def program_queues(ov):
    queue = ov.AsyncInferQueue(compiled(ov), 2)
    before, first, seen = queue.userdata, queue.get_idle_request_id(), []
    queue.start_async(ONES, "a")
    queue.start_async({0: ONES}, "b")
    queue.wait_all()
    after = sorted(queue.userdata)
    queue.set_callback(lambda request, userdata: seen.append((userdata, request.get_output_tensor().data.copy())))
    index = queue.get_idle_request_id()
    queue.start_async(ONES * 2, "c")
    queue.wait_all()
    queue.start_async(ONES * 3)
    queue.wait_all()
    return before, first, after, seen, queue[index].userdata == queue.userdata[index], len(queue)


def program_release_of_memory(ov):
    model = compiled(ov)
    before = model(ONES)[0]
    model.release_memory()
    return before, model(ONES * 2)[0], ov.CompiledModel(model)(ONES)[0]


def program_models_as_text(ov):
    ops = ov.opset13
    data = ops.parameter([2, 2], ov.Type.f32, name="data")
    model = ov.Model([ops.add(data, ops.constant(np.array([[1, 2], [3, 4]], np.float32)))], [data], "m")
    core = ov.Core()
    with tempfile.TemporaryDirectory() as folder:
        xml, weights = os.path.join(folder, "m.xml"), os.path.join(folder, "m.bin")
        ov.save_model(model, xml, compress_to_fp16=False)
        with open(xml, "rb") as text, open(weights, "rb") as binary:
            text, binary = text.read(), binary.read()
        tensor = ov.Tensor(np.frombuffer(binary, np.uint8).copy())
        read = [
            core.read_model(text, binary), core.read_model(text.decode(), tensor), core.read_model(xml),
            core.read_model(xml, weights), core.read_model(io.BytesIO(text), io.BytesIO(binary)),
            core.read_model(model=xml, weights=None, config={"ENABLE_MMAP": False}),
        ]  # fmt: skip
        results = [ov.compile_model(one, "AUTO")(ONES)[0] for one in read]
        compiled = [
            core.compile_model(text, "AUTO", weights=binary), core.compile_model(xml),
            ov.compile_model(xml), core.compile_model(model=xml, config={"PERFORMANCE_HINT": "LATENCY"}),
        ]  # fmt: skip
        results += [one(ONES)[0] for one in compiled]
    return results


def program_extensions_that_cannot_be_loaded(ov):
    core = ov.Core()
    return [
        kind_of_error(lambda: core.add_extension(library_path="libnothing.so")),
        kind_of_error(lambda: core.add_extension("libnothing.so")), kind_of_error(lambda: core.add_extension()),
        kind_of_error(lambda: core.register_plugins("nothing.xml")), kind_of_error(lambda: ov.Core("nothing.xml")),
    ]  # fmt: skip


def program_results_are_a_dictionary(ov):
    x = ov.opset8.parameter([2], ov.Type.f32, name="x")
    model = ov.Model([ov.opset8.relu(x, name="r"), ov.opset8.negative(x, name="n")], [x], "two")
    results = ov.Core().compile_model(model, "CPU")([np.array([-1, 2])])
    views = (results.keys(), results.values(), results.items())
    return [[type(view).__name__ for view in views], *results.values(), *results.to_tuple(), len(dict(results))]


def program_names_of_frontends(ov):
    manager = importlib.import_module(f"{ov.__name__}.frontend").FrontEndManager()
    names = ["onnx", "tf", "tflite", "paddle", "pytorch", "ir"]
    loaded = [manager.load_by_framework(name) for name in names]
    return [set(names) <= set(manager.get_available_front_ends()), [one.get_name() for one in loaded], repr(loaded[1])]
