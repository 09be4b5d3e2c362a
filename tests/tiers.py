"""Tiers of tests: ``make test-full`` runs every test, ``make test`` and ``make quick`` run samples of them.

HETERO_SEEDS, the number of seeds of random tests, selects the full tier. HETERO_QUICK selects the quick one: a case of
each test function, on the first device of a kind, and no test that is marked slow. Samples are chosen by a hash of a
test's name, so that adding a test never changes which others run.
"""

from __future__ import annotations

import os
from zlib import crc32

SEEDS = int(os.environ.get("HETERO_SEEDS", "0"))
IS_FULL = SEEDS > 0
IS_QUICK = "HETERO_QUICK" in os.environ


def in_sample(name: str, one_in: int) -> bool:
    """Return whether a test of this name is in a sample that has one of ``one_in`` tests; the full tier has all."""
    return IS_FULL or crc32(name.encode()) % one_in == 0
