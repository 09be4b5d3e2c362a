"""torch's table of operators: at least this share of the samples that are exported to core ATen agree."""

from torch.testing._internal.common_methods_invocations import op_db

from tests.frameworks.pytorch.op_db import report

SHARE = 0.9


def test_operators():
    agreed, exported = report(sorted({entry.name for entry in op_db}))
    assert agreed >= SHARE * exported
