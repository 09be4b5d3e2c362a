"""Passes with patterns, replacement of nodes, and the transformations that programs apply to whole models."""

import os
import tempfile
from importlib import import_module

import numpy as np

from tests.openvino_programs._errors import kind_of_error

DATA = np.array([[-1, 2], [3, -4]], np.float32)


def passes_of(ov):
    return import_module(f"{ov.__name__}.passes")


def run(ov, model, *inputs):
    return ov.compile_model(model, "AUTO", {"INFERENCE_PRECISION_HINT": "f32"})(list(inputs)).to_tuple()


def kinds(model):
    return sorted(node.get_type_name() for node in model.get_ops())


def relu_model(ov):
    ops = ov.opset13
    data = ops.parameter([2, 2], ov.Type.f32, name="data")
    total = ops.add(ops.relu(data), ops.constant(np.float32(1)))
    result = ops.multiply(ops.relu(total), ops.sigmoid(data))
    result.set_friendly_name("end")
    return ov.Model([result], [data], "m")


def replacing_pass(ov, pattern, make):
    passes = passes_of(ov)

    class Replacing(passes.MatcherPass):
        def __init__(self):
            passes.MatcherPass.__init__(self)
            self.matched = []

            def callback(matcher):
                root = matcher.get_match_root()
                self.matched.append(root.get_type_name())
                ov.utils.replace_node(root, self.register_new_node(make(root)))
                return True

            self.register_matcher(passes.Matcher(pattern, "Replacing"), callback)

    return Replacing()


def program_a_matcher_pass(ov):
    passes, ops = passes_of(ov), ov.opset13
    model = relu_model(ov)
    one = replacing_pass(ov, passes.WrapType("opset13.Relu"), lambda root: ops.exp(root.input(0).get_source_output()))
    manager = passes.Manager()
    manager.register_pass(one)
    manager.run_passes(model)
    return one.matched, kinds(model), run(ov, model, DATA), one.get_name()


def program_a_model_pass(ov):
    passes = passes_of(ov)

    class Renaming(passes.ModelPass):
        def run_on_model(self, model):
            for node in model.get_ops():
                if node.get_type_name() == "Relu":
                    node.set_friendly_name("renamed")
            return True

    model, manager = relu_model(ov), passes.Manager()
    one = manager.register_pass(Renaming())
    one.set_name("Mine")
    manager.set_per_pass_validation(False)
    manager.run_passes(model)
    return sum(node.get_friendly_name() == "renamed" for node in model.get_ops()), one.get_name()


def optional_arguments(passes):
    """Return the arguments of Optional after the types: with and without inputs, and a predicate that holds or not."""
    inputs = [(), (passes.AnyInput(),), (passes.WrapType("opset13.Sigmoid"),), (passes.WrapType("opset13.Multiply"),)]
    return [(*some, *condition) for some in inputs for condition in ((), (lambda value: True,), (lambda value: False,))]


def program_patterns(ov):
    passes, ops = passes_of(ov), ov.opset13
    model = relu_model(ov)
    root = model.get_results()[0].input_value(0)
    total = root.get_node().input_value(0).get_node().input_value(0)
    any_input = passes.AnyInput
    patterns = [
        passes.WrapType("opset13::Multiply"), passes.WrapType(["opset13.Add", "opset13::Multiply"]),
        passes.WrapType("opset13.Add"), any_input(), any_input(lambda value: False),
        passes.WrapType("opset13.Multiply", [any_input(), any_input()]),
        passes.WrapType("opset13.Multiply", [any_input()]),
        passes.WrapType("opset13.Multiply", [passes.WrapType("opset13.Sigmoid"), passes.WrapType("opset13.Relu")]),
        passes.WrapType("opset13.Multiply", lambda value: value.get_element_type() == ov.Type.f16),
        ops.multiply(any_input(), any_input()), ops.multiply(ops.sigmoid(any_input()), ops.relu(any_input())),
        ops.subtract(any_input(), any_input()), passes.Or([passes.WrapType("opset13.Add"), any_input()]),
        passes.Or([passes.WrapType("opset13.Add"), passes.WrapType("opset13.Relu")]),
        passes.Optional(["opset13.Relu"], passes.WrapType("opset13.Multiply")),
        passes.Optional(["opset13.Multiply"], [any_input(), any_input()]),
        *(passes.Optional(["opset13.Multiply"], *rest) for rest in optional_arguments(passes)),
        *(passes.Optional(["opset13.Relu"], *rest) for rest in optional_arguments(passes)),
        passes.WrapType("opset13.Multiply", passes.has_static_shape()),
        passes.WrapType("opset13.Multiply", passes.rank_equals(ov.Dimension(3))),
        passes.WrapType("opset13.Multiply", passes.type_matches(ov.Type.f32)),
        passes.WrapType("opset13.Multiply", passes.type_matches_any([ov.Type.i32, ov.Type.f32])),
        passes.WrapType("opset13.Multiply", passes.consumers_count(1)),
        passes.WrapType("opset13.Multiply", passes.consumers_count(2)),
        passes.WrapType("opset13.Multiply", passes.has_static_dim(1)),
        passes.WrapType("opset13.Multiply", passes.shape_matches("[N, N]")),
        passes.WrapType("opset13.Multiply", passes.shape_matches("[N, 3]")),
        passes.WrapType("opset13.Multiply", passes.attrs_match({"auto_broadcast": "numpy"})),
        passes.WrapType("opset13.Multiply", passes.attrs_match({"auto_broadcast": "none"})),
    ]  # fmt: skip
    matched = [passes.Matcher(pattern, "m").match(root) for pattern in patterns]
    data = any_input()
    addition = passes.WrapType("opset13.Add", [passes.WrapType("opset13.Relu", [data]), any_input()])
    matcher = passes.Matcher(addition, "Sum")
    found = matcher.match(total)
    values = matcher.get_pattern_value_map()
    return [
        matched, found, matcher.get_name(), matcher.get_match_root().get_type_name(),
        values[data].get_node().get_type_name(), values[addition].get_node().get_type_name(), len(values),
        len(matcher.get_match_values()), kind_of_error(lambda: passes.WrapType("opset13.NoSuchType")),
    ]  # fmt: skip


def program_graph_rewrite(ov):
    passes, ops = passes_of(ov), ov.opset13
    model, rewrite = relu_model(ov), passes.GraphRewrite()
    first = replacing_pass(ov, passes.WrapType("opset13.Relu"), lambda root: ops.exp(root.input_value(0)))
    second = replacing_pass(ov, passes.WrapType("opset13.Sigmoid"), lambda root: ops.tanh(root.input_value(0)))
    rewrite.add_matcher(first)
    rewrite.add_matcher(second)
    manager = passes.Manager()
    manager.register_pass(rewrite)
    manager.run_passes(model)
    return first.matched, second.matched, kinds(model), run(ov, model, DATA)


def program_replacement(ov):
    ops = ov.opset13
    model = relu_model(ov)
    root = model.get_results()[0].input_value(0)
    names = root.get_node().get_friendly_name()
    replaced = ov.utils.replace_output_update_name(root, ops.exp(root.get_node().input_value(0)).output(0))
    end = model.get_results()[0].input_value(0).get_node()
    data = ops.parameter([4], ov.Type.f32)
    split = ops.split(data, 0, 2)
    total = ops.subtract(split.output(0), split.output(1))
    other = ov.Model([total], [data])
    other_split = ops.split(data, 0, 2)
    ov.utils.replace_node(split, other_split, [1, 0])
    swapped = run(ov, other, np.arange(4, dtype=np.float32))
    return [
        names, replaced, end.get_friendly_name(), run(ov, model, DATA), swapped,
        kind_of_error(lambda: ov.utils.replace_node(other_split, ops.relu(data))),
    ]  # fmt: skip


def program_constant_folding(ov):
    passes, ops = passes_of(ov), ov.opset13
    data = ops.parameter([2, 2], ov.Type.f32)
    model = ov.Model([ops.add(data, ops.exp(ops.constant(DATA)))], [data], "m")
    manager = passes.Manager()
    manager.register_pass(passes.ConstantFolding())
    manager.run_passes(model)
    return kinds(model), run(ov, model, DATA)


def program_whole_model_in_fp16(ov):
    passes = passes_of(ov)
    model, manager = relu_model(ov), passes.Manager()
    manager.register_pass(passes.ConvertFP32ToFP16())
    manager.run_passes(model)
    return str(model.input().get_element_type()), str(model.output().get_element_type())


def program_serialization(ov):
    passes, model = passes_of(ov), relu_model(ov)
    with tempfile.TemporaryDirectory() as folder:
        xml, weights = os.path.join(folder, "a.xml"), os.path.join(folder, "b.bin")
        manager = passes.Manager()
        manager.register_pass(passes.Serialize(xml, weights))
        manager.run_passes(model)
        files = sorted(os.listdir(folder))
        return files, run(ov, ov.Core().read_model(xml, weights), DATA)


def stateful_model(ov):
    ops = ov.opset13
    data, state = ops.parameter([1, 2], ov.Type.f32), ops.parameter([1, 2], ov.Type.f32)
    data.output(0).set_names({"data"})
    state.output(0).set_names({"state"})
    total = ops.add(data, state)
    total.output(0).set_names({"next"})
    result = ops.result(total)
    end = ops.result(ops.multiply(total, ops.constant(np.float32(2))))
    return ov.Model([end, result], [data, state], "m")


def program_make_stateful(ov):
    offline = import_module(f"{ov.__name__}._offline_transformations")
    model = stateful_model(ov)
    offline.apply_make_stateful_transformation(model, {"state": "next"})
    request = ov.compile_model(model, "AUTO", {"INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
    results = [request.infer([np.array([[1, 2]], np.float32)])[0] for _ in range(3)]
    names = [state.name for state in request.query_state()]
    other, manager = stateful_model(ov), passes_of(ov).Manager()
    pair = other.get_parameters()[1], other.get_results()[1]
    manager.register_pass(passes_of(ov).MakeStateful([pair]))
    manager.run_passes(other)
    wrong = kind_of_error(lambda: offline.apply_make_stateful_transformation(stateful_model(ov), {"x": "next"}))
    return results, names, kinds(model), kinds(other), wrong


def program_compression(ov):
    offline = import_module(f"{ov.__name__}._offline_transformations")
    ops = ov.opset13
    data = ops.parameter([2, 2], ov.Type.f32)
    model = ov.Model([ops.matmul(data, ops.constant(DATA / 3), False, False)], [data], "m")
    offline.compress_model_transformation(model)
    constants = [str(n.get_element_type()) for n in model.get_ops() if n.get_type_name() == "Constant"]
    return kinds(model), constants, run(ov, model, DATA)


def convolutions(ov, bias):
    ops, rng = ov.opset13, np.random.default_rng(0)
    data = ops.parameter([1, 3, 5, 5], ov.Type.f32)
    first = rng.standard_normal((4, 3, 3, 3)).astype(np.float32)
    first[[1, 3]] = 0
    hidden = ops.convolution(data, ops.constant(first), [1, 1], [0, 0], [0, 0], [1, 1])
    if bias:
        values = np.array([1, 0, 2, 0], np.float32).reshape(1, 4, 1, 1)
        hidden = ops.add(hidden, ops.constant(values))
    second = ops.constant(rng.standard_normal((2, 4, 1, 1)).astype(np.float32))
    end = ops.convolution(ops.relu(hidden), second, [1, 1], [0, 0], [0, 0], [1, 1])
    return ov.Model([end], [data], "m"), rng.standard_normal((1, 3, 5, 5)).astype(np.float32)


def program_pruning(ov):
    offline = import_module(f"{ov.__name__}._offline_transformations")
    results = []
    for bias in (False, True):
        model, data = convolutions(ov, bias)
        before = run(ov, model, data)
        offline.apply_pruning_transformation(model)
        weights = [list(n.shape) for n in model.get_ordered_ops() if n.get_type_name() == "Constant"]
        results.append((before, run(ov, model, data), [shape for shape in weights if len(shape) == 4]))
    return results


def program_common_transformations(ov):
    offline = import_module(f"{ov.__name__}._offline_transformations")
    model = relu_model(ov)
    offline.apply_moc_transformations(model, True)
    return run(ov, model, DATA)


def program_low_latency(ov):
    ops = ov.opset13
    data = ops.parameter([1, 2], ov.Type.f32)
    inner, state = ops.parameter([1, 2], ov.Type.f32), ops.parameter([1, 2], ov.Type.f32)
    total = ops.add(inner, state)
    body = ov.Model([ops.result(total)], [inner, state], "body")
    loop = ops.tensor_iterator()
    loop.set_body(body)
    loop.set_sliced_input(inner, data.output(0), 0, 1, 1, -1, 0)
    loop.set_merged_input(state, ops.constant(np.zeros([1, 2], np.float32)).output(0), body.get_results()[0].output(0))
    last = loop.get_iter_value(body.get_results()[0].output(0), -1)
    model = ov.Model([ops.result(last)], [data], "m")
    manager = passes_of(ov).Manager()
    manager.register_pass(passes_of(ov).LowLatency2())
    manager.run_passes(model)
    request = ov.compile_model(model, "AUTO", {"INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
    return [request.infer([np.array([[1, 2]], np.float32)])[0] for _ in range(3)], len(request.query_state())


def program_packed_data(ov):
    helpers = import_module(f"{ov.__name__}.helpers")
    results = []
    for kind, low, high in (("i4", -8, 8), ("u4", 0, 16), ("u1", 0, 2), ("nf4", 0, 16), ("u2", 0, 4)):
        array, element_type = np.arange(low, high, dtype=np.int8).reshape(-1, 2), getattr(ov.Type, kind)
        packed = helpers.pack_data(array, element_type)
        results += [packed, helpers.unpack_data(packed, element_type, list(array.shape))]
    return results, helpers.pack_data(np.array([1, 2, 3], np.uint8), ov.Type.u4)


def program_names_of_operations(ov):
    op = ov.op
    data = op.Parameter(ov.Type.f32, ov.Shape([2]))
    variable = op.util.Variable(op.util.VariableInfo())
    return [
        data.get_type_name(), op.Constant(np.array([1], np.float32)).get_type_name(), variable.info.variable_id,
        [callable(one) for one in (op.if_op, op.loop, op.tensor_iterator, op.assign, op.read_value, op.Result)],
        issubclass(import_module(f"{ov.__name__}.exceptions").UserInputError, Exception),
    ]  # fmt: skip


def program_postponed_constants(ov):
    ops = ov.opset13
    data = ops.parameter([2, 2], ov.Type.f32)
    constant = ov.utils.make_postponed_constant(ov.Type.f32, ov.Shape([2, 2]), lambda: ov.Tensor(DATA), "made")
    model = ov.Model([ops.add(data, constant)], [data], "m")
    return run(ov, model, DATA), constant.get_friendly_name()
