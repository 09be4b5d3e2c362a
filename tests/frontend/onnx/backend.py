"""The ONNX project's own backend cases, run on one device: ``python -m tests.frontend.onnx.backend [PATTERN] [-v]``.

Prints each case that fails with its reason, and the count.
"""

from __future__ import annotations

import argparse
import re
import sys

from onnx.backend.test.case.test_case import TestCase

import hetero
from hetero.conformance import onnx_cases

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")
_core = hetero.Core()


def cases() -> dict[str, TestCase]:
    """All cases by name."""
    return onnx_cases.cases(*KINDS)


def run_case(case: TestCase, device: str = "TEMPLATE") -> None:
    """Raises AssertionError where a result is not the expected one, and what reading and running the model raise."""
    onnx_cases.check_case(_core.compile_model(onnx_cases.read_case(_core, case), device), case)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern", nargs="?", default="", help="regular expression that the names must hold")
    parser.add_argument("-v", "--verbose", action="store_true", help="show the traceback of each failure")
    options = parser.parse_args()
    chosen = {name: case for name, case in cases().items() if re.search(options.pattern, name)}
    failed = 0
    for name, case in chosen.items():
        try:
            run_case(case)
        except Exception as error:
            failed += 1
            print(f"{name}: {type(error).__name__}: {' '.join(str(error).split())[:300]}")
            if options.verbose:
                import traceback

                traceback.print_exc(file=sys.stdout)
    print(f"{len(chosen) - failed} of {len(chosen)} cases pass")


if __name__ == "__main__":
    main()
