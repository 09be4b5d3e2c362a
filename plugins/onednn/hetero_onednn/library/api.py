"""oneDNN's C API through ctypes: functions, enumerations and errors.

``call("matmul_primitive_desc_create", …)`` calls ``dnnl_matmul_primitive_desc_create`` and raises if it fails.
"""

from __future__ import annotations

import ctypes
import enum
import functools
from collections.abc import Callable, Sequence
from typing import Any

from hetero.system.errors import DeviceError
from hetero_onednn.library.library import load_library

MAX_RANK = 12
UNIMPLEMENTED = (2, 3)
_STATUS = (
    "success", "out of memory", "invalid arguments", "not implemented", "no implementation left", "runtime error",
    "not required",
)  # fmt: skip

# The parameters of each function, without the prefix dnnl_: p pointer, i int, l int64, f float, z size_t.
_PARAMETERS = {
    "engine_create": "piz",
    "stream_create": "ppi",
    "stream_destroy": "p",
    "memory_desc_create_with_strides": "pipip",
    "memory_desc_create_with_tag": "pipii",
    "memory_desc_create_submemory": "pppp",
    "memory_desc_reshape": "ppip",
    "memory_desc_permute_axes": "ppp",
    "memory_desc_clone": "pp",
    "memory_desc_query": "pip",
    "memory_desc_destroy": "p",
    "memory_create": "pppp",
    "memory_set_data_handle": "pp",
    "memory_destroy": "p",
    "primitive_attr_create": "p",
    "primitive_attr_set_scratchpad_mode": "pi",
    "primitive_attr_set_post_ops": "pp",
    "primitive_attr_set_scales_mask": "pii",
    "primitive_attr_set_zero_points_mask": "pii",
    "primitive_attr_destroy": "p",
    "post_ops_create": "p",
    "post_ops_append_eltwise": "piff",
    "post_ops_append_binary": "pip",
    "post_ops_append_prelu": "pi",
    "post_ops_append_sum": "pfii",
    "post_ops_destroy": "p",
    "primitive_desc_query": "piip",
    "primitive_desc_next_impl": "p",
    "primitive_desc_destroy": "p",
    "primitive_create": "pp",
    "primitive_execute": "ppip",
    "primitive_destroy": "p",
    "reorder_primitive_desc_create": "pppppp",
    "concat_primitive_desc_create": "pppiipp",
    "binary_primitive_desc_create": "ppipppp",
    "convolution_forward_primitive_desc_create": "ppiippppppppp",
    "deconvolution_forward_primitive_desc_create": "ppiippppppppp",
    "shuffle_forward_primitive_desc_create": "ppippilp",
    "eltwise_forward_primitive_desc_create": "ppiippffp",
    "softmax_forward_primitive_desc_create": "ppiippip",
    "pooling_forward_primitive_desc_create": "ppiipppppppp",
    "prelu_forward_primitive_desc_create": "ppipppp",
    "lrn_forward_primitive_desc_create": "ppiipplfffp",
    "layer_normalization_forward_primitive_desc_create": "ppipppfip",
    "matmul_primitive_desc_create": "ppppppp",
    "resampling_forward_primitive_desc_create": "ppiipppp",
    "reduction_primitive_desc_create": "ppippffp",
    "set_primitive_cache_capacity": "i",
}
_TYPES: dict[str, Any] = {
    "p": ctypes.c_void_p, "i": ctypes.c_int, "l": ctypes.c_int64, "f": ctypes.c_float, "z": ctypes.c_size_t,
}  # fmt: skip
# Functions that do not return a status, with their parameters and results.
_OTHER_FUNCTIONS = {
    "memory_desc_equal": ("pp", ctypes.c_int),
    "memory_desc_get_size": ("p", ctypes.c_size_t),
    "primitive_desc_query_md": ("pii", ctypes.c_void_p),
    "get_effective_cpu_isa": ("", ctypes.c_int),
}


class DataType(enum.IntEnum):
    f16, bf16, f32, s32, s8, u8 = range(1, 7)


class Eltwise(enum.IntEnum):
    """Algorithms of one operand."""

    (
        relu, tanh, elu, square, abs, sqrt, linear, soft_relu, hardsigmoid, logistic, exp, gelu_tanh, swish, log, clip,
        clip_v2, pow, gelu_erf, round, mish, hardswish,
    ) = range(0x20, 0x35)  # fmt: skip


class Binary(enum.IntEnum):
    """Algorithms of two operands."""

    add, mul, max, min, div, sub, ge, gt, le, lt, eq, ne = range(0x1FFF0, 0x1FFFC)


class Algorithm(enum.IntEnum):
    convolution_direct = 0x1
    deconvolution_direct = 0xA
    pooling_max = 0x1FF
    pooling_avg_include_padding = 0x2FF
    pooling_avg_exclude_padding = 0x3FF
    lrn_across_channels = 0xAFF
    resampling_nearest = 0x2FFF0
    resampling_linear = 0x2FFF1
    reduction_max = 0x2FFF2
    reduction_min = 0x2FFF3
    reduction_sum = 0x2FFF4
    reduction_mul = 0x2FFF5
    reduction_mean = 0x2FFF6
    reduction_norm_lp_sum = 0x2FFF8
    reduction_norm_lp_power_p_sum = 0x2FFFA
    softmax_accurate = 0x30000
    softmax_log = 0x30001


class Argument(enum.IntEnum):
    """Arguments of a primitive's execution."""

    src = 1
    src_1 = 2
    dst = 17
    weights = 33
    bias = 41
    scale = 51
    shift = 52
    scratchpad = 80
    multiple_src = 1024
    scales = 4096
    zero_points = 8192
    post_op = 32768


class Query(enum.IntEnum):
    """Questions to a primitive descriptor or a memory descriptor."""

    implementation = 8
    strides = 14
    src = 129
    weights = 131
    dst = 133
    scratchpad = 136
    argument = 255
    rank = 256
    dims = 257
    data_type = 258
    offset = 259
    padded_dims = 260
    format_kind = 262
    inner_block_count = 263
    inner_blocks = 264
    inner_axes = 265


FORWARD_INFERENCE = 96
#: The layout that a primitive chooses, as a format tag.
ANY = 1
CPU = 1
USER_SCRATCHPAD = 1
USE_SCALE, USE_SHIFT = 2, 4

Dims = ctypes.c_int64 * MAX_RANK


class ExecArg(ctypes.Structure):
    """dnnl_exec_arg_t"""

    _fields_ = (("arg", ctypes.c_int), ("memory", ctypes.c_void_p))


class OneDnnError(DeviceError):
    """A call of oneDNN failed. ``is_unimplemented``: because oneDNN has no primitive for these arguments."""

    def __init__(self, function: str, status: int) -> None:
        reason = _STATUS[status] if status < len(_STATUS) else f"status {status}"
        super().__init__(f"oneDNN failed in dnnl_{function}: {reason}")
        self.is_unimplemented = status in UNIMPLEMENTED


@functools.cache
def function(name: str) -> Callable[..., Any]:
    """Return a function of the library by its name without dnnl_, as it is: the status is not checked."""
    symbol = load_library().handle[f"dnnl_{name}"]
    letters, symbol.restype = _OTHER_FUNCTIONS.get(name) or (_PARAMETERS[name], ctypes.c_int)
    symbol.argtypes = [_TYPES[letter] for letter in letters]
    return symbol


def call(name: str, *arguments: Any) -> None:
    """Call a function that returns a status. Raises OneDnnError if it fails."""
    if status := function(name)(*arguments):
        raise OneDnnError(name, status)


def create(name: str, *arguments: Any) -> int:
    """Call a function whose first parameter takes a new object, and return the object's handle."""
    handle = ctypes.c_void_p()
    call(name, ctypes.byref(handle), *arguments)
    assert handle.value is not None
    return handle.value


def dims(values: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
    """Return dnnl_dims_t."""
    return Dims(*values)


class Handle:
    """An object of the library, destroyed with its wrapper."""

    #: The function that destroys it, without dnnl_.
    destroyer = ""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self._destroy = function(self.destroyer)

    def __del__(self) -> None:
        # Without _destroy the constructor failed.
        if destroy := getattr(self, "_destroy", None):
            destroy(self.handle)


class Stream(Handle):
    destroyer = "stream_destroy"

    def __init__(self) -> None:
        super().__init__(create("stream_create", engine(), 1))


def effective_isa() -> int:
    """Return the instruction sets that the library uses, as dnnl_cpu_isa_t."""
    return function("get_effective_cpu_isa")()


def computes_in_bf16() -> bool:
    """Return whether primitives take bf16: those for avx2_vnni_2 and avx512_core do."""
    return effective_isa() & 0x30 != 0


def multiplies_int8_exactly() -> bool:
    """Return whether sums of products of 8-bit integers are exact.

    Without VNNI (avx2_vnni or avx512_core_vnni), pairs of products are added in 16 bits, which saturate: "Nuances of
    int8 computations" in oneDNN's documentation.
    """
    return effective_isa() & 0x48 != 0


@functools.cache
def engine() -> int:
    """Return the handle of the engine for the processor, which lives as long as the process."""
    return create("engine_create", CPU, 0)
