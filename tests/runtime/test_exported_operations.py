"""Export and import of all kinds of operations, attributes and bodies, with the test cases of the ONNX project."""

import re
from pathlib import Path

import pytest

from hetero import Core
from hetero.conformance import onnx_cases
from hetero.reference import random
from hetero.system.errors import BlobError
from tests.frontend.onnx.backend import cases

core = Core()
LIST = Path(__file__).parents[1] / "frontend" / "onnx" / "backend_failures.txt"
# Cases that fail even without export.
KNOWN_FAILURES = {line.split(": ")[0] for line in LIST.read_text().splitlines() if line and not line.startswith("#")}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(cases().keys() - KNOWN_FAILURES)[::20])
def test_case_passes_after_export_and_import(name, monkeypatch):
    monkeypatch.setattr(random.secrets, "randbits", lambda bits: 1)
    compiled = core.compile_model(onnx_cases.read_case(core, cases()[name]), "TEMPLATE")
    try:
        exported = compiled.export_model()
    except BlobError as error:
        assert re.search("sequence|optional", str(error))
    else:
        onnx_cases.check_case(core.import_model(exported, "TEMPLATE"), cases()[name])
