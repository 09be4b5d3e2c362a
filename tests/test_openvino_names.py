"""Every public name of openvino is one of hetero, except those that are left out for a reason."""

import openvino

import hetero
from tests.openvino_names import missing_names


def because(reason: str, *names: str) -> dict[str, str]:
    return dict.fromkeys(names, reason)


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
    **because("command line tools of OpenVINO", "tools"),
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
        "frontend.frontend.FrontEndManager", "frontend.get_version", "helpers.packing", "package_utils.get_cmake_path",
        "preprocess.get_version", "utils.get_cmake_path",
    ),
    **because(
        "joins OpenVINO's Python to its C++", "frontend.tensorflow.GraphIterator",
        "frontend.tensorflow.py_tensorflow_frontend", "frontend.tensorflow.utils", "package_utils.LazyLoader",
        "utils.data_helpers", "utils.make_postponed_constant", "utils.node_factory", "utils.numpy_to_c",
        "utils.postponed_constant",
    ),
    **because(
        "what OpenVINO's own factories are written with", "utils.decorators", "utils.input_validation", "utils.types",
    ),
    **because(
        "classes that OpenVINO's operations have in common in C++", "op.util.ArithmeticReduction",
        "op.util.BinaryElementwiseArithmetic", "op.util.BinaryElementwiseComparison",
        "op.util.BinaryElementwiseLogical", "op.util.IndexReduction", "op.util.UnaryElementwiseArithmetic",
    ),
    **because("opset4.range is the older operation here as there", "opset4.ops.range(output_type)"),
}  # fmt: skip


def test_names():
    missing = missing_names(openvino, hetero)
    assert [name for name in missing if name not in LEFT_OUT] == []
    assert [name for name in LEFT_OUT if name not in missing] == []


def test_few_names_are_left_out():
    assert len(LEFT_OUT) <= 60
