"""ONNX-ML's operations on maps, and the probabilities of a support vector machine; not in OpenVINO."""

from __future__ import annotations

from hetero.core.containers import MapType, SequenceType
from hetero.core.shape import Dimension
from hetero.core.types import Type
from hetero.graph import Attribute, Op
from hetero.ops.checks import check_type, merge_dimensions, shape_of_rank


class ZipMap(Op):
    """A sequence with a map for each row ``[rows, keys]`` of the data: from each key to the number in its column.

    - ``keys``: a vector of integers or strings.
    """

    input_names = ("data", "keys")

    def validate_and_infer_types(self) -> None:
        check_type(self, [0], Type.is_real, "a floating-point type")
        columns, keys = shape_of_rank(self, 0, 2)[1], shape_of_rank(self, 1, 1)[0]
        merge_dimensions(self, (columns, keys), "the numbers of columns and keys")
        item = MapType(self.get_input_element_type(0), key_type=self.get_input_element_type(1))
        self.set_output_type(0, SequenceType(item), [])


class MapToTensor(Op):
    """The values of a map as a row ``[1, keys]``; without keys, all its values in the order of its keys.

    - ``keys``: a vector of integers or strings. A key that the map lacks has the value 0, or the text ``missing``.
    - ``element_type``: that of the row, to which the values are converted.
    """

    input_names = ("map", "keys?")
    element_type = Attribute(Type, Type.f32)
    missing = Attribute(str, "")

    def validate_and_infer_types(self) -> None:
        kind = self.get_input_element_type(0)
        if not isinstance(kind, MapType) and kind.is_static():
            self.fail(f"input 0 must be a map, but is {kind}")
        length = Dimension()
        if self.get_input_size() > 1:
            length = shape_of_rank(self, 1, 1)[0]
            if isinstance(kind, MapType) and kind.key_type is not self.get_input_element_type(1):
                self.fail(f"a map of keys of type {kind.key_type} has no keys of type {self.get_input_element_type(1)}")
        self.set_output_type(0, self.element_type, [1, length])


class PairwiseCoupling(Op):
    """Probabilities of classes ``[rows, classes]`` from ``pairwise`` ones, of each class against each.

    Input: ``pairwise`` ``[rows, classes, classes]``, the probability of the first class where only two are possible.
    Source: T.-F. Wu, C.-J. Lin, R. C. Weng, Probability Estimates for Multi-class Classification by Pairwise Coupling
    (2004), second method, as in libsvm: iterations until no class is off by more than 0.005 / classes, at most 100 or
    the number of classes.
    """

    input_names = ("pairwise",)

    def validate_and_infer_types(self) -> None:
        check_type(self, [0], Type.is_real, "a floating-point type")
        shape = shape_of_rank(self, 0, 3)
        classes = merge_dimensions(self, shape[1:], "the numbers of classes")
        self.set_output_type(0, self.get_input_element_type(0), [shape[0], classes])
