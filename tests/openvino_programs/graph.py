"""Nodes, ports and models: operators, names, rt_info, attributes, evaluation and reshape."""

import copy
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tests.openvino_programs._errors import error_of, kind_of_error


def small_model(ov):
    parameter = ov.opset13.parameter([1, 2], np.float32, name="p")
    relu = ov.opset13.relu(parameter, name="r")
    return parameter, relu, ov.Model([relu], [parameter], "small")


def program_operators(ov):
    p = ov.opset13.parameter([1, 2], np.float32, name="p")
    q = ov.opset13.parameter([1, 2], np.float32, name="q")
    array = np.array([1, 2], np.float32)
    nodes = [p + q, p - q, p * q, p / q, p + array, array - p, array * p, array / p]
    model = ov.Model(nodes, [p, q], "operators")
    outputs = [ov.Tensor(np.zeros([1, 2], np.float32)) for _ in nodes]
    inputs = [ov.Tensor(np.array([[3, 4]], np.float32)), ov.Tensor(np.array([[5, 8]], np.float32))]
    return [
        [node.get_type_name() for node in nodes], model.evaluate(outputs, inputs), [output.data for output in outputs],
        kind_of_error(lambda: p + "a"), kind_of_error(lambda: p < q), kind_of_error(lambda: p.output(0) < 1),
        p == p, p == q,
    ]  # fmt: skip


def program_tensor_names(ov):
    parameter, relu, model = small_model(ov)
    before = model.input(0).any_name, model.input(0).names, repr(model.input(0)), len(model.output(0).names)
    model.input(0).tensor.set_names({"in"})
    model.input(0).get_tensor().add_names({"data"})
    relu.output(0).set_names({"a", "b"})
    model.output(0).tensor.names = {"out"}
    return [
        *before, sorted(model.input(0).names), sorted(parameter.output(0).names), model.input("data").get_index(),
        model.output("out").names, model.output("a").any_name,
        relu.input(0).get_tensor().get_element_type() == ov.Type.f32,
        repr(relu.input(0)), str(relu.get_output_tensor(0).get_partial_shape()), str(relu.get_input_tensor(0).shape),
    ]  # fmt: skip


def program_rt_info(ov):
    parameter, relu, model = small_model(ov)
    model.set_rt_info("x", ["framework", "character"])
    model.set_rt_info(5, "number")
    model.set_rt_info([1, 2, 3], "list")
    model.set_rt_info({"k": 1}, "dictionary")
    relu.set_rt_info("v", "key")
    relu.rt_info["other"] = 7
    relu.output(0).set_rt_info("w", "key")
    relu.input(0).set_rt_info("u", "key")
    return [
        model.get_rt_info()["framework"]["character"].value, model.get_rt_info(["framework", "character"]).astype(str),
        model.get_rt_info("number") == 5, model.get_rt_info("number").astype(str), model.rt_info["number"].value,
        model.get_rt_info("list").aslist(int), model.get_rt_info("dictionary").value,
        model.get_rt_info(["framework"]).value,
        model.has_rt_info("number"), model.has_rt_info(["framework", "no"]),
        kind_of_error(lambda: model.get_rt_info("no")),
        relu.rt_info["key"].value, relu.get_rt_info()["other"] == 7, sorted(relu.rt_info.keys()), "key" in relu.rt_info,
        len(relu.rt_info), relu.output(0).rt_info["key"].value, relu.input(0).get_rt_info()["key"].value,
        bool(parameter.rt_info),
        repr(relu.rt_info), repr(relu.rt_info["key"]),
    ]  # fmt: skip


def program_any(ov):
    text, number, numbers = ov.OVAny("1 2"), ov.OVAny(5), ov.OVAny([1, 2])
    return [
        text.aslist(int), text.aslist(), text.value, number.astype(str), number.astype(float), number == 5,
        number == ov.OVAny(5), number == "5", hash(number), numbers[0], len(numbers), numbers.astype(str),
        numbers.get(),
        ov.OVAny(True).astype(str), ov.OVAny("YES").astype(bool), ov.OVAny("2.5").astype(int), ov.OVAny({"a": 1})["a"],
        kind_of_error(lambda: ov.OVAny("a").astype(int)), kind_of_error(lambda: ov.OVAny("a").astype(list)),
    ]  # fmt: skip


def program_attributes(ov):
    zeros = np.zeros([1, 2, 4, 4], np.float32)
    op = ov.opset13
    softmax = op.softmax(zeros, 1)
    before = softmax.get_axis()
    softmax.set_attribute("axis", 2)
    softmax_axis = softmax.get_axis()
    softmax.set_axis(3)
    return [
        before, softmax_axis, softmax.get_attributes(), kind_of_error(lambda: softmax.get_foo()),
        op.convert(zeros, "f16").get_attributes(), op.parameter([1, -1], np.float32).get_attributes(),
        op.constant(np.float64([1.5])).get_attributes(), op.shape_of(zeros).get_attributes(),
        op.topk(zeros, 1, 0, "max", "value").get_attributes(), op.clamp(zeros, 0, 5).get_attributes(),
        op.convolution(zeros, np.zeros([1, 2, 2, 2], np.float32), [1, 1], [0, 0], [0, 0], [1, 1]).get_attributes(),
    ]  # fmt: skip


def program_models(ov):
    parameter, relu, model = small_model(ov)
    split = ov.opset13.split(np.zeros([2, 2], np.float32), 0, 2)
    by_keyword = ov.Model(results=[relu], parameters=[parameter], name="k")
    added = len(model.add_outputs([("p", 0)])), len(model.outputs)
    model.add_outputs(relu.output(0))
    with ov.Model(relu, [parameter], "w") as inside:
        name = inside.friendly_name
    return [
        len(ov.Model(split, [], "s").outputs), len(ov.Model([split], [], "s").outputs), by_keyword.friendly_name,
        *added,
        len(model.outputs), name, copy.deepcopy(model).friendly_name, ov.Model(model).friendly_name,
        kind_of_error(lambda: copy.copy(model)), kind_of_error(lambda: ov.Model([relu])), model.get_sink_index(relu),
        kind_of_error(lambda: ov.Model([relu], [])), ov.opset13.result(relu, "name").get_type_name(),
        parameter.get_instance_id() < relu.get_instance_id(),
    ]  # fmt: skip


def program_reshape(ov):
    shapes = []
    forms = [
        [3, 4], (5, 6), "7,?", ov.PartialShape([8, 9]), {0: [1, 2]}, {"p": "[1..2,?]"}, {"p": [2, (1, 3)]},
        {0: (4, -1)},
    ]  # fmt: skip
    _, _, model = small_model(ov)
    for form in forms:
        model.reshape(form)
        shapes.append(str(model.output(0).partial_shape))
    model.reshape({model.input(0): [1, 1]})
    model.reshape(partial_shape=[2, 2])
    return [
        *shapes, repr(model.input(0).shape), kind_of_error(lambda: model.reshape(5)),
        kind_of_error(lambda: model.reshape({"nope": [1, 2]})), kind_of_error(lambda: model.reshape({0: 5})),
    ]  # fmt: skip


def program_evaluate(ov):
    _, relu, model = small_model(ov)
    data = ov.Tensor(np.array([[-1, 2]], np.float32))
    first, second = ov.Tensor(np.zeros([1, 2], np.float32)), ov.Tensor(np.float32, [5])
    return [
        relu.evaluate([first], [data]), first.data, model.evaluate(ov.TensorVector([second]), ov.TensorVector([data])),
        second.data, kind_of_error(lambda: model.evaluate([second], [])),
    ]  # fmt: skip


def program_ports_of_compiled_models(ov):
    _, _, model = small_model(ov)
    compiled = ov.Core().compile_model(model, "CPU")
    port = compiled.output(0)
    return [
        port.node.get_type_name(), compiled.input(0).node.get_type_name(), compiled.input(0).names, port.get_index(),
        isinstance(port, ov.ConstOutput), port == compiled.outputs[0], hash(port) == hash(compiled.outputs[0]),
        str(port.partial_shape), len(port.get_names()),
    ]  # fmt: skip


def program_constants(ov):
    array = np.array([0.75, 6.0, 1.5, 24, 0.1875, -1, np.inf], np.float32)
    constant = ov.opset13.constant(np.array([[1, 2], [3, 4]], np.int32))
    shared = np.array([1.0])
    result = ov.opset13.constant(shared, shared_memory=True)
    shared[0] = 3
    return [
        ov.opset13.constant(array, ov.Type.f8e8m0).get_data(dtype=np.float32), constant.get_vector(),
        constant.get_data(dtype=np.float32), constant.get_data(copy=True), constant.get_value_strings(), result.data,
        constant.get_byte_size(), repr(constant.get_strides()), constant.data.flags.writeable,
        ov.opset13.constant(ov.Tensor(shared)).data, ov.opset13.constant([1.7, -1.7], ov.Type.i8).data,
    ]  # fmt: skip


def program_arguments_by_name(ov):
    parameter, relu, model = small_model(ov)
    other = ov.opset13.parameter([1, 2], np.float32, name="other")
    found = [
        model.input(index=0).any_name, model.input(tensor_name="p").any_name, model.output(index=0).get_index(),
        relu.input(input_index=0).get_index(), relu.output(output_index=0).get_index(),
        model.get_result_index(result=model.get_result()), model.get_result_index(value=relu.output(0)),
    ]  # fmt: skip
    model.replace_parameter(parameter_index=0, parameter=other)
    relu.input(0).replace_source_output(new_source_output=other.output(0))
    parameter.output(0).replace(replacement=other.output(0))
    one, two = ov.opset13.split(other, 1, num_splits=2, name="halves").outputs()
    return [
        *found, model.input().any_name, one < two, two < one, copy.copy(one) == one,
        kind_of_error(lambda: copy.deepcopy(one)), kind_of_error(lambda: relu.input(7)),
        kind_of_error(lambda: relu.output(7)), kind_of_error(lambda: relu.input_value(7)),
        kind_of_error(lambda: relu.get_input_shape(7)), kind_of_error(lambda: relu.get_output_element_type(7)),
        kind_of_error(lambda: model.input(7)), kind_of_error(lambda: model.output(7)),
        kind_of_error(lambda: model.input("no")), kind_of_error(lambda: model.get_result_index(5)),
        kind_of_error(lambda: model.get_sink_index(5)), kind_of_error(lambda: model.replace_parameter(7, other)),
        kind_of_error(lambda: model.get_output_shape(7)), kind_of_error(lambda: model.get_output_op(7)),
        ov.PartialShape([1, -1]).compatible(shape=ov.PartialShape([1, 2])),
        ov.Dimension(3).compatible(dim=ov.Dimension(3)),
        ov.PartialShape([1]).refines(shape=ov.PartialShape([-1])), ov.Dimension(3).relaxes(dim=ov.Dimension(3)),
    ]  # fmt: skip


def program_sub_graphs(ov):
    ops = ov.opset13
    x, state, piece = (ops.parameter(shape, np.float32) for shape in ([4, 2], [1, 2], [1, 2]))
    total = ops.add(state, piece)
    iterator = ov.opset1.tensor_iterator()
    iterator.set_body(ov.Model([total], [state, piece], "sum"))
    iterator.set_sliced_input(piece, x.output(0), 0, 1, 1, -1, 0)
    iterator.set_merged_input(state, ops.constant(np.zeros([1, 2], np.float32)).output(0), total.output(0))
    last, every = (
        iterator.get_iter_value(total.output(0), -1),
        iterator.get_concatenated_slices(total.output(0), 0, 1, 1, -1, 0),
    )
    model = ov.Model([last, every], [x], "running sum")
    results = ov.Core().compile_model(model, "CPU")(np.arange(8, dtype=np.float32).reshape(4, 2)).values()
    condition = ops.parameter([], bool)
    then_input, else_input = (ops.parameter([4, 2], np.float32) for _ in range(2))
    then_result, else_result = ops.result(ops.relu(then_input)), ops.result(ops.negative(else_input))
    branch = ov.opset8.if_op(condition.output(0))
    branch.set_then_body(ov.Model([then_result], [then_input], "then"))
    branch.set_else_body(ov.Model([else_result], [else_input], "else"))
    branch.set_input(x.output(0), then_input, else_input)
    return [
        list(results), iterator.get_num_iterations(), str(last.get_partial_shape()),
        iterator.get_body().get_friendly_name(), iterator.get_function().get_friendly_name(),
        str(branch.set_output(then_result, else_result).get_partial_shape()), branch.get_type_name(),
        branch.get_then_body().get_friendly_name(), branch.get_function(1).get_friendly_name(),
        ops.assign(ops.read_value(x, "v"), "v").get_variable_id(),
    ]  # fmt: skip


def program_names_of_nodes(ov):
    ops = ov.opset13
    x = ops.parameter([2, 2], np.float32, "x")
    return [
        node.get_friendly_name()
        for node in (
            ops.relu(x, name="a"), ops.add(x, x, name="b"), ops.constant([1], np.float32, name="c"),
            ops.softmax(x, 1, name="e"), ops.topk(x, 1, 1, "max", "value", name="f"), ops.ops.result(x, name="g"),
        )
    ]  # fmt: skip


def program_printing(ov):
    ops = ov.opset13
    x = ops.parameter([-1, 2], np.int64, name="x")
    halves = ops.split(x, 1, 2, name="halves")
    constant = ops.constant([1.5, 0.1, 1e10, -np.inf, np.nan], np.float32, name="c")
    loop = ops.loop(ops.constant(3), ops.constant(True))
    body_input = ops.parameter([1], np.float32)
    loop.set_function(ov.Model([ops.relu(body_input)], [body_input], "body"))
    loop.set_invariant_input(body_input, constant.output(0))
    (description,) = loop.get_input_descriptions()
    x.set_element_type(ov.Type.bf16)
    return [
        repr(x), repr(halves), str(constant), constant.get_value_strings(), ops.constant(True).get_value_strings(),
        repr(description), repr(description.get_type_info()), repr(x.get_element_type()),
        ops.read_value(x, "v").get_attributes(),
    ]  # fmt: skip


def program_wrong_arguments(ov):
    ops = ov.opset13
    parameter, relu, model = small_model(ov)
    branch = ops.if_op(ops.constant(True))
    return [
        kind_of_error(call)
        for call in (
            lambda: ops.relu(), lambda: ops.relu(parameter, no=1), lambda: ops.relu({}),
            lambda: branch.set_then_body(5),
            lambda: relu.output(0).set_names(["a"]), lambda: relu.output(0).add_names({1}),
            lambda: relu.input(0).replace_source_output(parameter), lambda: model.remove_result(5),
            lambda: ov.Model([5], [parameter]), lambda: ov.save_model(5, "model.xml"),
            lambda: ov.serialize(5, "model.xml"),
            lambda: model.get_variable_by_id("none"),
        )
    ]  # fmt: skip


def program_types_of_python(ov):
    ops = ov.opset13
    kinds = [ops.parameter([1], kind).get_element_type() for kind in (float, int, bool)]
    return [
        repr(kind) for kind in (*kinds, *(ops.constant([1], kind).get_element_type() for kind in (float, int, bool)))
    ]


def program_unique_names(ov):
    parameter, relu, _model = small_model(ov)
    before = relu.get_name()
    relu.set_friendly_name("changed")
    return [
        relu.get_name() == before, relu.name.startswith("Relu_"), relu.friendly_name, parameter.name == relu.name,
        kind_of_error(lambda: setattr(relu, "name", "x")),
    ]  # fmt: skip


def program_element_types_and_padding(ov):
    image = ov.opset1.parameter([1, 3, 2, 2], float, name="image")
    kinds = [ov.opset1.convert(image, kind) for kind in (float, int, bool, np.float64, "f16")]
    resized = [
        ov.opset11.interpolate(source, [4, 4], "nearest", "sizes", *pads, axes=[2, 3])
        for source in (image, ov.opset1.parameter(ov.PartialShape.dynamic()))
        for pads in ([], [[1], [0, 1]])
    ]
    return [
        [node.get_element_type().to_string() for node in (image, *kinds)],
        [(node.get_attributes(), str(node.output(0).partial_shape)) for node in resized],
    ]


def program_property_lists(ov):
    x = ov.opset1.parameter([2])
    core, device = ov.Core(), "CPU"
    compiled = core.compile_model(ov.Model([ov.opset1.relu(x)], [x]), device)
    names = [core.get_property(device, key) for key in ("EXECUTION_DEVICES", "OPTIMIZATION_CAPABILITIES")]
    lists = [compiled.get_property("EXECUTION_DEVICES"), *names, core.get_property(device, "AVAILABLE_DEVICES")]
    return [isinstance(value, list) for value in lists], type(core.get_property(device, "RANGE_FOR_STREAMS")).__name__


def program_listed_names(ov):
    names = ("AsyncInferQueue", "Core", "Model", "Op", "OpExtension", "ProfilingInfo", "save_model", "op", "opset13")
    return [name in dir(ov) for name in names]


def program_nodes_with_several_outputs(ov):
    halves = ov.opset13.split(ov.opset13.parameter([4, 2], np.float32), 0, 2)
    return [str(ov.opset13.relu(halves).shape), ov.opset13.relu(halves).input_value(0) == halves.output(0)]


def program_with_statements(ov):
    _, _, model = small_model(ov)
    with model as same:
        before = same.get_friendly_name()
    return [before, kind_of_error(lambda: same.inputs), kind_of_error(lambda: model.get_friendly_name())]


def program_folders_are_created(ov):
    _, _, model = small_model(ov)
    with TemporaryDirectory() as folder:
        ov.save_model(model, Path(folder) / "a" / "b" / "model.xml")
        ov.serialize(model, f"{folder}/c/model.xml")
        return sorted(path.relative_to(folder).as_posix() for path in Path(folder).rglob("*"))


def program_printed_ports_of_compiled_models(ov):
    _, _, model = small_model(ov)
    compiled = ov.Core().compile_model(model, "CPU")
    request = compiled.create_infer_request()
    ports = [compiled.inputs, compiled.input(0), request.model_inputs, model.inputs, model.input(0)]
    return [str(port) for port in ports] + [type(compiled.output(0)).__name__, type(model.output(0)).__name__]


def program_names_of_results(ov):
    parameter = ov.opset13.parameter([2], np.float32, name="s")
    model = ov.Model([ov.opset13.result(parameter)], [parameter], "pass")
    named = ov.opset13.parameter([2], np.float32, name="p")
    named.output(0).set_names({"t"})
    other = ov.Model([ov.opset13.result(named, "r")], [named], "named")
    return [model.output(0).names, model.output("s").names, repr(model), other.input(0).names]


def program_evaluate_takes_tensors(ov):
    _, _, model = small_model(ov)
    array = np.zeros([1, 2], np.float32)
    return [error_of(lambda: model.evaluate([ov.Tensor(array)], [array])), error_of(lambda: model.input(2.5))]
