"""TreeEnsemble and LabelEncoder: operations of the ONNX-ML domain; not in OpenVINO."""

from __future__ import annotations

from hetero.core.shape import Dimension
from hetero.core.types import Type
from hetero.graph import Attribute, Op, choice
from hetero.ops.checks import check_type, common_type, exact_value, is_number, merge_dimensions, shape_of_rank

# The comparisons of tree nodes; "member" tests membership in a set.
MODES = ("<=", "<", ">=", ">", "==", "!=", "member")


class TreeEnsemble(Op):
    """The aggregated outputs of decision trees for rows ``[rows, features]``: ``[rows, targets]``.

    - ``features``, ``splits``, ``modes``: each node of all trees compares a feature with its split; a mode is an index
      into ``MODES``.
    - ``when_true``, ``when_false``: the next node, or if negative, the leaf ``-1 - number``.
    - ``missing_true``: whether the comparison is true for NaN.
    - ``roots``: the root node of each tree, or a leaf.
    - ``leaves [leaves, targets]``: the weights; NaN if a leaf has none for a target.
    - ``members``: the sets of the nodes with mode "member", one per row, in the order of the nodes, padded with NaN.
    - ``aggregate``: how the outputs of the trees are combined.
    """

    input_names = (
        "data", "features", "splits", "modes", "when_true", "when_false", "missing_true", "roots", "leaves", "members",
    )  # fmt: skip
    aggregate = Attribute(choice("average", "sum", "min", "max"), "sum")

    def validate_and_infer_types(self) -> None:
        check_type(self, [0], is_number, "numbers")
        check_type(self, (1, 3, 4, 5, 7), Type.is_integer, "integers")
        check_type(self, (2, 8, 9), Type.is_real, "a floating-point type")
        rows = shape_of_rank(self, 0, 2)
        nodes = [shape_of_rank(self, index, 1)[0] for index in range(1, 7)]
        merge_dimensions(self, nodes, "the numbers of features, splits, modes and branches")
        leaves = shape_of_rank(self, 8, 2)
        features = exact_value(self.input_value(1))
        if features is not None and features.size and not rows[1].compatible(Dimension(int(features.max()) + 1, -1)):
            self.fail(f"data must have {features.max() + 1} features or more, but has the shape {rows}")
        self.set_output_type(0, self.get_input_element_type(8), [rows[0], leaves[1]])


class LabelEncoder(Op):
    """Each element of the data replaced by the value of the equal key, or by the default if no key is equal.

    Without a default, an element without a key is an error. NaN is a valid key. Among equal keys the last one counts.

    - ``values``: a vector, the value of each key.
    """

    input_names = ("data", "keys", "values", "default?")

    def validate_and_infer_types(self) -> None:
        common_type(self, (0, 1))
        keys, values = (shape_of_rank(self, index, 1)[0] for index in (1, 2))
        merge_dimensions(self, (keys, values), "the numbers of keys and values")
        element_type = common_type(self, range(2, self.get_input_size()))
        self.set_output_type(0, element_type, self.get_input_partial_shape(0))
