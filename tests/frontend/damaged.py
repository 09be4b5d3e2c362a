"""Reading what may be damaged or made to do harm."""

import contextlib
import resource

from hetero.errors import FrontendError
from hetero.frontend import FrontEnd

# What reading a file of some kilobytes may take of memory beyond what is there before.
MOST_MEMORY = 1 << 30


def read(frontend: FrontEnd, content: bytes) -> None:
    """Read a model, or have it refused; anything but a FrontendError is a fault, and so is much memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with contextlib.suppress(FrontendError):
            frontend.convert(content)
    finally:
        grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    assert grown < MOST_MEMORY
