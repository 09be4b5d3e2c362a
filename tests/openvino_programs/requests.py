"""Requests: waiting, callbacks, profiles, batches of tensors and errors."""

import numpy as np

from tests.openvino_programs._errors import error_of, kind_of_error

X = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)
PATIENCE = 20_000  # milliseconds


def compiled(ov, device="CPU", **options):
    x = ov.opset8.parameter([2, 4], ov.Type.f32, name="x")
    model = ov.Model([ov.opset8.softmax(ov.opset8.tanh(x), 1, name="softmax")], [x], "small")
    return ov.Core().compile_model(model, device, options)


def program_waiting(ov):
    request = compiled(ov).create_infer_request()
    before = [request.wait(), request.wait_for(0)]
    request.infer([X])
    after_infer = [request.wait(), request.wait_for(0)]
    request.start_async([X])
    ended = [request.wait_for(PATIENCE), request.wait(), request.wait_for(0), request.results[0]]
    request.cancel()
    return [*before, *after_infer, *ended, request.infer([X])[0]]


def program_callbacks_of_a_queue(ov):
    queue, ended = ov.AsyncInferQueue(compiled(ov), 2), []
    queue.set_callback(lambda request, number: ended.append((number, request.get_output_tensor().data.copy())))
    for number in range(6):
        queue.start_async([X + number], number)
    queue.wait_all()
    ended.sort(key=lambda one: one[0])
    return [[number for number, _ in ended], [array for _, array in ended], queue.is_ready()]


def program_callback_that_starts_again(ov):
    request, seen = compiled(ov).create_infer_request(), []

    def callback(userdata):
        seen.append(request.results[0].copy())
        if len(seen) < 3:
            request.start_async([X + len(seen)])

    request.set_callback(callback, None)
    request.start_async([X])
    for _ in range(3):
        request.wait()
    return [seen, request.results[0]]


def program_batches_of_tensors(ov):
    results = []
    for layout in ("NC", "N...", "CN", "HW", "...N", "?N"):
        x = ov.opset8.parameter([2, 2], ov.Type.f32)
        x.set_layout(ov.Layout(layout))
        model = ov.Model([ov.opset8.relu(x)], [x], "batch")
        request = ov.Core().compile_model(model, "CPU").create_infer_request()
        rows = [ov.Tensor(np.float32([[1, 2]])), ov.Tensor(np.float32([[3, 4]]))]
        error = kind_of_error(lambda request=request, rows=rows: request.set_input_tensors(rows))
        results.append([error, None if error else request.infer()[0]])
    return results


def program_profiles(ov):
    results = []
    for device in ("CPU", "HETERO:CPU"):
        request = compiled(ov, device, PERF_COUNT=True).create_infer_request()
        request.infer([X])
        infos = [info for info in request.profiling_info if info.node_type == "Softmax"]
        results.append([[info.status.name, info.cpu_time <= info.real_time] for info in infos])
    return results


def program_errors(ov):
    model = compiled(ov)
    request = model.create_infer_request()
    return [
        kind_of_error(lambda: model.set_property({"NETWORK_NAME": "large"})),
        kind_of_error(lambda: model.set_property({"NUM_STREAMS": 2})),
        kind_of_error(lambda: model.set_property({"NO_SUCH_KEY": 2})),
        kind_of_error(lambda: model.get_property("NO_SUCH_KEY")),
        kind_of_error(lambda: request.start_async([X[:, :2]])),
        kind_of_error(lambda: request.start_async({"nope": X})),
    ]


def program_names_given_before_the_result(ov):
    x = ov.opset1.parameter([2], name="x")
    relu = ov.opset1.relu(x)
    x.output(0).set_names({"in"})
    relu.output(0).set_names({"out"})
    model = ov.Model([ov.opset1.result(relu)], [x], "m")
    compiled = ov.compile_model(model, "CPU")
    request = compiled.create_infer_request()
    array = np.array([-1, 2], np.float32)
    results = request.infer({"in": array})
    return [
        repr(ov.AsyncInferQueue(compiled, 2)),
        model.output(0).names, model.outputs[0].get_tensor().names, repr(model), repr(compiled), repr(request),
        results["out"], results.names(), "out" in results, request.get_tensor("out").data,
        compiled.output("out").names, compiled(array)["out"], compiled(inputs=[array])[compiled.output(0)],
    ]  # fmt: skip


def program_failing_callbacks(ov):
    def fail(*_):
        raise ValueError("x")

    request, queue = compiled(ov).create_infer_request(), ov.AsyncInferQueue(compiled(ov), 1)
    request.set_callback(fail, None)
    request.start_async([X])
    queue.set_callback(fail)
    queue.start_async([X])
    return [error_of(request.wait), error_of(queue.wait_all)]


def program_arguments_of_other_types(ov):
    core, model = ov.Core(), compiled(ov)
    request, tensor = model.create_infer_request(), ov.Tensor(X)
    return [
        error_of(call)
        for call in (
            lambda: core.read_model(3), lambda: core.read_model(None), lambda: core.read_model({}),
            lambda: core.compile_model(3, "AUTO"), lambda: model.export_model(3),
            lambda: ov.AsyncInferQueue(3), lambda: request.set_output_tensors([tensor]), lambda: model.input(3.5),
            lambda: ov.serialize(model.get_runtime_model(), 3), lambda: ov.opset8.parameter(3),
            lambda: ov.opset8.parameter([1], "no type"),
        )
    ]  # fmt: skip
