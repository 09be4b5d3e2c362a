"""Primitives: the computations of oneDNN, and their descriptors."""

from __future__ import annotations

import ctypes
from functools import cached_property

from hetero_onednn.library import api
from hetero_onednn.library.api import Handle, Query, call, create, function
from hetero_onednn.library.attributes import Attributes
from hetero_onednn.library.descriptors import Descriptor, copy_of


class PrimitiveDescriptor(Handle):
    """A computation with an implementation and the layouts that it chose."""

    destroyer = "primitive_desc_destroy"

    @cached_property
    def implementation(self) -> str:
        """The name of the implementation, such as ``jit:avx512_core``."""
        text = ctypes.c_char_p()
        call("primitive_desc_query", self.handle, Query.implementation, 0, ctypes.byref(text))
        return (text.value or b"").decode()

    def descriptor(self, what: Query, index: int = 0) -> Descriptor:
        """Return the descriptor of an argument."""
        return copy_of(function("primitive_desc_query_md")(self.handle, what, index))

    @property
    def src(self) -> Descriptor:
        return self.descriptor(Query.src)

    @property
    def weights(self) -> Descriptor:
        return self.descriptor(Query.weights)

    @property
    def dst(self) -> Descriptor:
        return self.descriptor(Query.dst)

    @property
    def scratchpad_size(self) -> int:
        return self.descriptor(Query.scratchpad).byte_size


class Primitive(Handle):
    """A computation that can be executed."""

    destroyer = "primitive_destroy"

    def __init__(self, descriptor: PrimitiveDescriptor) -> None:
        super().__init__(create("primitive_create", descriptor.handle))
        self.implementation = descriptor.implementation
        self.scratchpad = descriptor.descriptor(Query.scratchpad)


class Memory(Handle):
    """Memory at an address, with its descriptor."""

    destroyer = "memory_destroy"

    def __init__(self, descriptor: Descriptor, address: int) -> None:
        super().__init__(create("memory_create", descriptor.handle, api.engine(), address))


def describe(kind: str, *arguments: object) -> PrimitiveDescriptor:
    """Return the descriptor of a primitive of a kind, such as ``matmul``, from the arguments after the engine.

    Descriptors and attributes may be passed as they are, None for one that is missing. Raises OneDnnError if oneDNN has
    no such primitive.
    """
    plain = [argument.handle if isinstance(argument, Handle) else argument for argument in arguments]
    return PrimitiveDescriptor(create(f"{kind}_primitive_desc_create", api.engine(), *plain))


def describe_reorder(source: Descriptor, target: Descriptor) -> PrimitiveDescriptor:
    """Return the descriptor of a reorder, which converts layout and element type."""
    attributes = Attributes()
    arguments = source.handle, api.engine(), target.handle, api.engine(), attributes.handle
    return PrimitiveDescriptor(create("reorder_primitive_desc_create", *arguments))
