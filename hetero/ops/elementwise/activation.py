"""Element-wise activation functions. The output has the element type and shape of the first input."""

from __future__ import annotations

from hetero.graph import Attribute, choice
from hetero.ops.checks import check_scalar, common_type
from hetero.ops.elementwise.elementwise import RealUnary, Unary, UnaryOfData


class Relu(Unary, opset=1):
    """max(x, 0)"""


class Sigmoid(UnaryOfData, opset=1):
    """1 / (1 + exp(-x))"""


class Mish(RealUnary, opset=4):
    """x · tanh(ln(1 + exp(x)))"""

    input_names = ("data",)


class SoftPlus(RealUnary, opset=4):
    """ln(1 + exp(x))"""

    input_names = ("data",)


class HSwish(UnaryOfData, opset=4):
    """x · min(max(x + 3, 0), 6) / 6"""


class HSigmoid(UnaryOfData, opset=5):
    """min(max(x + 3, 0), 6) / 6"""


class SoftSign(RealUnary, opset=9):
    """x / (1 + |x|)"""


class GeluV2(RealUnary, type_name="Gelu", opset=2):
    """x · Φ(x), where Φ is the cumulative distribution function of the normal distribution."""

    approximation_mode = "erf"


class Gelu(RealUnary, opset=7):
    """x · Φ(x), where Φ is the cumulative distribution function of the normal distribution.

    ``approximation_mode`` "erf" computes Φ exactly, "tanh" approximates it.
    """

    input_names = ("data",)
    approximation_mode = Attribute(choice("erf", "tanh"))


class Elu(UnaryOfData, opset=1):
    """x if x > 0, else alpha · (exp(x) - 1)

    - ``alpha``: the factor.
    """

    alpha = Attribute(float)


class Swish(RealUnary, opset=4):
    """x / (1 + exp(-beta · x)), with a scalar beta, 1 by default."""

    input_names = ("data", "beta?")

    def validate_and_infer_types(self) -> None:
        if self.has_input("beta"):
            common_type(self, (0, 1))
            check_scalar(self, 1)
        super().validate_and_infer_types()


class HardSigmoid(Unary, opset=1):
    """min(max(alpha · x + beta, 0), 1), with scalars alpha and beta."""

    input_names = ("data", "alpha", "beta")

    def validate_and_infer_types(self) -> None:
        common_type(self, (0, 1, 2))
        check_scalar(self, 1)
        check_scalar(self, 2)
        super().validate_and_infer_types()


class Selu(RealUnary, opset=1):
    """lambda · x if x > 0, else lambda · alpha · (exp(x) - 1), with scalars alpha and lambda.

    - ``lambda_value``: the factor lambda.
    """

    input_names = ("data", "alpha", "lambda_value")

    def validate_and_infer_types(self) -> None:
        common_type(self, (0, 1, 2))
        super().validate_and_infer_types()


class PRelu(Unary, opset=1):
    """x if x > 0, else slope · x. The slope is broadcast; a vector as long as axis 1 applies along that axis."""

    input_names = ("data", "slope")
