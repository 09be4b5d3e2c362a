"""Import of the package onnx, and of the modules of hetero that need it, when a model is read or written."""

from __future__ import annotations

import contextlib
import sys
from types import TracebackType

from hetero.system.error_origin import is_from_signal
from hetero.system.errors import FrontendError, reason_of


class importing_onnx(contextlib.AbstractContextManager[None]):
    """Context manager for imports, which raises FrontendError for any error in them, and lets a second try succeed.

    Python forgets a package whose import fails, but not its submodules, which the package then does not find again.
    Native submodules stay, as they can be initialized only once.
    """

    def __enter__(self) -> None:
        if "onnx" not in sys.modules:
            for name, module in list(sys.modules.items()):
                if name.startswith("onnx.") and str(getattr(module, "__file__", "")).endswith(".py"):
                    del sys.modules[name]

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if error is not None and not is_from_signal(error):
            raise FrontendError(f"the reader and writer of ONNX cannot be imported: {reason_of(error)}") from error
