"""Every public name of openvino is one of hetero, except those that are left out for a reason."""

from fnmatch import filter, fnmatchcase

import openvino
import openvino.frontend.onnx  # openvino imports it only if a test does

import hetero
from tests.openvino_names import missing_names


def because(reason: str, *names: str) -> dict[str, str]:
    return dict.fromkeys(names, reason)


# By name; ``*`` stands for every name of a module.
LEFT_OUT = {
    **because(
        "all nodes of a program are of the class Op, which has the method",
        "Node.constructor_validate_and_infer_types", "Node.evaluate", "Node.set_argument", "Node.set_arguments",
        "Node.set_attribute", "Node.visit_attributes",
    ),
    **because("a key of caches, so it cannot change; a list of it can", "Shape.__setitem__", "Strides.__setitem__"),
    **because("an enumeration, whose values are looked up by position only", "Type(dtype)"),
    **because("video memory of Intel's graphics", "VAContext", "VASurfaceTensor"),
    **because("experiments of OpenVINO, on which no program may rely", "experimental"),
    **because(
        "functions that OpenVINO's commands are written with", "frontend.tensorflow.utils.*", "tools.ovc.*",
    ),
    **because("only inferences make results", "utils.data_helpers.OVDict(_dict)"),
    **because(
        "keeps the memory of an imported blob alive there, which Python does here", "CompiledModel(weights)",
    ),
    **because("a frontend is no wrapper of an object in C++", "frontend.FrontEnd(fe)"),
    **because(
        "frontends register themselves by an entry point of their package",
        "frontend.FrontEndManager.register_front_end",
    ),
    **because(
        "an InputModel holds the converted model here, which has methods of its own for changes",
        "frontend.InputModel.cut_and_add_new_output", "frontend.InputModel.free_name_for_operation",
        "frontend.InputModel.free_name_for_tensor", "frontend.InputModel.set_name_for_dimension",
    ),
    **because(
        "a Place is a tensor or an operation here, not a port of one",
        "frontend.InputModel.get_place_by_operation_name_and_input_port",
        "frontend.InputModel.get_place_by_operation_name_and_output_port",
        "frontend.Place.get_consuming_operations(output_name)",
        "frontend.Place.get_consuming_operations(output_port_index)", "frontend.Place.get_consuming_ports",
        "frontend.Place.get_input_port", "frontend.Place.get_output_port",
        "frontend.Place.get_producing_operation(input_name)",
        "frontend.Place.get_producing_operation(input_port_index)", "frontend.Place.get_producing_port",
        "frontend.Place.get_source_tensor(input_name)", "frontend.Place.get_target_tensor(output_name)",
    ),
    **because(
        "imported there for internal use; the public name is in the package above",
        "frontend.frontend.FrontEndManager", "helpers.packing", 
        "preprocess.get_version", 
    ),
    **because(
        "joins OpenVINO's Python to its C++", "frontend.tensorflow.GraphIterator",
        "frontend.tensorflow.py_tensorflow_frontend", "frontend.onnx.py_onnx_frontend",
        "package_utils.LazyLoader", "utils.data_helpers.data_dispatcher", "utils.numpy_to_c",
        "utils.postponed_constant",
    ),
    **because(
        "what OpenVINO's own factories are written with", "utils.decorators.MultiMethod",
        "utils.decorators.overloading", "utils.decorators.registry",
    ),
    **because(
        "classes that OpenVINO's operations have in common in C++", "op.util.ArithmeticReduction",
        "op.util.BinaryElementwiseArithmetic", "op.util.BinaryElementwiseComparison",
        "op.util.BinaryElementwiseLogical", "op.util.IndexReduction", "op.util.UnaryElementwiseArithmetic",
    ),
    **because("draws a graph; Model.to_networkx gives it to drawing programs", "passes.VisualizeTree"),
    **because("a version is only passed on to Serialize", "passes.Version.__int__", "passes.Version.__lt__"),
    **because("the module of the class passes.Manager", "passes.manager.Manager"),
    **because("opset4.range is the older operation here as there", "opset4.ops.range(output_type)"),
}  # fmt: skip


def test_names():
    missing = missing_names(openvino, hetero)
    assert [name for name in missing if not any(fnmatchcase(name, pattern) for pattern in LEFT_OUT)] == []
    assert [pattern for pattern in LEFT_OUT if not filter(missing, pattern)] == []


def test_few_names_are_left_out():
    assert len(LEFT_OUT) <= 60
