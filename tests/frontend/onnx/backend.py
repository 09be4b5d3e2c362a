"""The ONNX project's own backend cases, run on a device: ``python -m tests.frontend.onnx.backend [PATTERN] [-d GPU]``.

Prints each case that fails with its reason, and the count. With ``--write`` it writes those that the device refuses to
the list of what GPU refuses.
"""

from __future__ import annotations

import argparse
import re
import sys
import traceback
from pathlib import Path

from onnx.backend.test.case.test_case import TestCase

import hetero
from hetero.conformance import onnx_cases
from hetero.system.errors import FrontendError, UnsupportedOperationError

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")
REFUSED_BY_GPU = Path(__file__).parent / "backend_refused_by_gpu.txt"
_HEADER = """\
# ONNX backend cases that device GPU refuses, one a line with the reason. Each must be refused: see test_backend.py.
# python -m tests.frontend.onnx.backend -d GPU --write
"""
PASSES, DIFFERS, NOT_TRANSLATED = "passes", "differs", "not translated"
_core = hetero.Core()


def cases() -> dict[str, TestCase]:
    """Return all cases by name."""
    return onnx_cases.cases(*KINDS)


def run_case(case: TestCase, device: str) -> None:
    """Run a case. Raises AssertionError for a wrong result, and any error of reading and running the model."""
    onnx_cases.check_case(_core.compile_model(onnx_cases.read_case(_core, case), device), case)


def outcome(case: TestCase, device: str) -> str:
    """What becomes of a case: that it passes, differs or is not translated, or why the device refuses operations of it.

    Raises whatever else goes wrong.
    """
    try:
        run_case(case, device)
    except UnsupportedOperationError as error:
        # Without names, which tell the case and the device, and each reason once.
        refusals = re.findall(r"(\w+) '[^']*' (\(.+?\))(?=, \w+ '| and \d+ more$|$)", " ".join(str(error).split()))
        return ", ".join(dict.fromkeys(re.sub(" '[^']*'", "", " ".join(refusal)) for refusal in refusals))
    except FrontendError as error:
        if "no translation of" not in str(error):
            raise
        return NOT_TRANSLATED
    except AssertionError as error:
        if "Not equal to tolerance" not in str(error):
            raise
        return DIFFERS
    return PASSES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern", nargs="?", default="", help="regular expression that the names must hold")
    parser.add_argument("-d", "--device", default="TEMPLATE")
    parser.add_argument("-v", "--verbose", action="store_true", help="show the traceback of what breaks")
    parser.add_argument("--write", action="store_true", help="write the list of what the device refuses")
    options = parser.parse_args()
    chosen = {name: case for name, case in cases().items() if re.search(options.pattern, name)}
    failed = {}
    for name, case in chosen.items():
        try:
            found = outcome(case, options.device)
        except Exception as error:
            found = f"breaks by {type(error).__name__}: {' '.join(str(error).split())[:300]}"
            if options.verbose:
                traceback.print_exc(file=sys.stdout)
        if found != PASSES:
            failed[name] = found
            print(f"{name}: {found}")
    print(f"{len(chosen) - len(failed)} of {len(chosen)} cases pass")
    if options.write:
        refused = {name: found for name, found in failed.items() if found.endswith(")") and "breaks by" not in found}
        REFUSED_BY_GPU.write_text(_HEADER + "".join(f"{name}: {found}\n" for name, found in refused.items()))


if __name__ == "__main__":
    main()
