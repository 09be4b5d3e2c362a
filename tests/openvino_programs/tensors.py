"""Tensors: forms of the constructor, strings, regions and copies."""

import copy
import importlib

import numpy as np
from PIL import Image

from tests.openvino_programs._errors import kind_of_error


def program_forms(ov):
    array = np.array([1, 2, 3, 4], np.float32)
    tensors = [
        ov.Tensor(array), ov.Tensor(array=array, shared_memory=True), ov.Tensor(array, [2, 2]),
        ov.Tensor(array, ov.Shape([4, 1]), ov.Type.f32), ov.Tensor([1, 2]), ov.Tensor([[1.5], [2]]), ov.Tensor([True]),
    ]  # fmt: skip
    empty = [
        ov.Tensor(type=ov.Type.f32, shape=[1, 2]), ov.Tensor(type=np.float32, shape=ov.Shape([1, 2])),
        ov.Tensor(np.dtype("int8"), [3]), ov.Tensor(ov.Type.f16, ov.Shape([2])),
        *(ov.Tensor(ov.Type.f32, shape) for shape in ([0, 3], [3, 0], [2, 0, 4], [0], [])),
    ]  # fmt: skip
    return [
        [tensor.data for tensor in tensors], [repr(tensor) for tensor in tensors + empty],
        [str(tensor.shape) for tensor in tensors + empty], [str(tensor.strides) for tensor in tensors + empty],
        [tensor.is_continuous() for tensor in tensors], kind_of_error(lambda: ov.Tensor()),
    ]  # fmt: skip


def program_packed(ov):
    tensor = ov.Tensor(np.array([0x21, 0x43], np.uint8), [4], ov.Type.u4)
    return [
        repr(tensor), str(tensor.shape), tensor.size, kind_of_error(lambda: ov.Tensor(tensor, [0], [2])),
        kind_of_error(lambda: ov.Tensor(ov.Tensor(ov.Type.i4, [4]), [0], [4])),
    ]  # fmt: skip


def program_strings(ov):
    tensor, from_bytes = ov.Tensor(["a", "bcd"]), ov.Tensor([b"a", b"bcd"])
    before = [tensor.str_data, tensor.bytes_data, from_bytes.str_data, from_bytes.bytes_data, repr(tensor)]
    tensor.str_data = ["x", "yy"]
    after = tensor.str_data
    tensor.bytes_data = [b"p", b"q"]
    return [
        *before, after, tensor.bytes_data, ov.Tensor(np.array(["ä"])).bytes_data,
        kind_of_error(lambda: ov.Tensor([1]).str_data), kind_of_error(lambda: ov.Tensor([1]).bytes_data),
        kind_of_error(lambda: setattr(tensor, "str_data", ["x"])),
    ]  # fmt: skip


def program_string_data_is_bytes(ov):
    words = ov.opset1.parameter([-1], ov.Type.string, "words")
    model = ov.Model([ov.opset1.result(words)], [words], "words")
    request = ov.compile_model(model, "CPU").create_infer_request()
    results = request.infer([np.array(["aé", "bcd"])])
    source, target = ov.Tensor(["aé", "bcd"]), ov.Tensor(ov.Type.string, [1])
    source.copy_to(target)
    filled = ov.Tensor(ov.Type.string, [2])
    filled.copy_from(np.array(["long", "x"]))
    return [
        source.data, target.data, target.str_data, filled.data, ov.Tensor([b"p"]).data, results[0],
        request.get_input_tensor().data, request.get_output_tensor().data, request.results[0],
    ]  # fmt: skip


def program_regions_and_copies(ov):
    whole = ov.Tensor(np.arange(12).reshape(3, 4))
    region = ov.Tensor(whole, ov.Coordinate([0, 1]), ov.Coordinate([2, 3]))
    shared, deep = copy.copy(whole), copy.deepcopy(whole)
    whole.data[0, 1] = 99
    target = ov.Tensor([1, 2])
    target.copy_from([7, 8])
    return [
        region.data, str(region.shape), region.is_continuous(), region.size, shared.data, deep.data, target.data,
        ov.Tensor(other=whole, begin=[0, 0], end=[1, 2]).data, kind_of_error(lambda: ov.Tensor(whole, [0, 0], [9, 9])),
    ]  # fmt: skip


def program_tensors_of_ports(ov):
    parameter = ov.opset13.parameter([1, 2], np.float32, name="p")
    dynamic = ov.opset13.parameter([-1, 2], np.float32, name="d")
    model = ov.Model([ov.opset13.relu(parameter), ov.opset13.relu(dynamic)], [parameter, dynamic], "m")
    array = np.array([[1, 2]], np.float32)
    shared, by_name = ov.Tensor(parameter.output(0), array), ov.Tensor(port=model.output(0), array=array)
    array[0, 0] = 9
    return [
        repr(ov.Tensor(parameter.output(0))), repr(ov.Tensor(port=model.input(1))), shared.data, by_name.data,
        repr(ov.Tensor(dynamic.output(0), array)),
        kind_of_error(lambda: ov.Tensor(parameter.output(0), np.zeros([1], np.float32))),
    ]  # fmt: skip


def program_tensors_by_keyword(ov):
    target = ov.Tensor(list=[0, 0])
    target.copy_from(source_tensor=ov.Tensor([1, 2]))
    target.copy_to(target_tensor=ov.Tensor([3, 4]))
    vector = ov.TensorVector([target])
    vector.append(x=target)
    vector.insert(i=0, x=target)
    vector.extend(L=[target])
    return [
        target.data, ov.Tensor(list=[1.5]).data, ov.Tensor(image=Image.new("RGB", (3, 2), 7)).data, len(vector),
        vector.pop(i=0).data,
        kind_of_error(lambda: vector.append(1)), kind_of_error(lambda: target.copy_from(ov.Tensor([1.5]))),
        kind_of_error(lambda: target.copy_from(np.array([1.5]))), kind_of_error(lambda: target.set_shape([-1])),
        kind_of_error(lambda: ov.Tensor([1.5]).copy_to(target)), kind_of_error(lambda: ov.Tensor(ov.Type.dynamic, [1])),
        kind_of_error(lambda: ov.Tensor(ov.Type.f32)), kind_of_error(lambda: ov.Tensor(None)),
    ]  # fmt: skip


def program_packed_bytes(ov):
    helpers = importlib.import_module(f"{ov.__name__}.helpers")
    results = []
    for kind, numbers in (
        (ov.Type.u4, [1, 2, 3, 15, 5]), (ov.Type.i4, [1, -2, 7, -8, 5]), (ov.Type.u1, [1, 0, 1, 1, 0]),
        (ov.Type.u2, [1, 0, 3, 2, 1]), (ov.Type.nf4, [1, 2, 15, 0, 9]),
    ):  # fmt: skip
        array = np.array(numbers, np.int8)
        packed = helpers.pack_data(array, kind)
        shared, filled = ov.Tensor(packed, [5], kind), ov.Tensor(kind, [5])
        filled.data[:] = packed
        constant = ov.opset13.constant(array, ov.Type.f32 if kind == ov.Type.nf4 else kind)
        results += [
            [tensor.data, tensor.byte_size, tensor.size, helpers.unpack_data(tensor.data, kind, tensor.shape)]
            for tensor in (shared, filled, ov.Tensor(filled.data, [5], kind))
        ]
        if constant.get_element_type() == kind:
            results.append(helpers.unpack_data(constant.data, kind, constant.shape))
    return results


def program_memory_that_is_longer(ov):
    array = np.arange(6, dtype=np.float32)
    tensor = ov.Tensor(array, [2, 2], ov.Type.f32)
    return [tensor.data, ov.Tensor(array, ov.Shape([5]), ov.Type.u8).byte_size]
