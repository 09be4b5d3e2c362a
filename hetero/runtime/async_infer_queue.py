"""AsyncInferQueue: a pool of infer requests."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from hetero import properties as props
from hetero.plugin.requests.async_infer_request import LOST_IN_FORK
from hetero.plugin.requests.end import End
from hetero.runtime.compiled_model import CompiledModel
from hetero.runtime.infer_request import InferRequest, Inputs
from hetero.system.errors import ArgumentTypeError, CancelledError, PropertyError, RequestBusyError, as_exception
from hetero.system.fork import renew_after_fork


class AsyncInferQueue:
    """A pool of requests of one compiled model. ``start_async`` uses an idle one, and waits if all are busy.

    ``jobs``: number of requests; 0 means OPTIMAL_NUMBER_OF_INFER_REQUESTS of the model.
    """

    def __init__(self, model: CompiledModel, jobs: int = 0) -> None:
        if not isinstance(model, CompiledModel):
            raise ArgumentTypeError(f"a queue is made for a CompiledModel, not for {model!r}")
        self._requests = [model.create_infer_request() for _ in range(jobs or _optimal_number(model))]
        self._userdata: list[Any] = [None] * len(self._requests)
        self._callback: Callable[[InferRequest, Any], None] | None = None
        self._first_error: Exception | None = None  # of an inference, unless it was raised
        # Idents of the threads that are executing the callback.
        self._in_callback: set[int] = set()
        for index, request in enumerate(self._requests):
            request.on_end(functools.partial(self._on_end, index), on_own_thread=False)
        self._set_idle()
        renew_after_fork(self, AsyncInferQueue._renew)

    def _set_idle(self) -> None:
        self._idle = deque(range(len(self._requests)))
        self._lock = threading.Lock()
        # What threads wait for until a request is idle. Ctrl-C may leave one that no thread waits for.
        self._waiting: list[End] = []

    def _renew(self) -> None:
        is_lost = len(self._idle) < len(self._requests)
        self._in_callback = set()
        self._set_idle()
        if is_lost:
            self._add_error(CancelledError(f"an inference of the queue {LOST_IN_FORK}"))

    def set_callback(self, callback: Callable[[InferRequest, Any], None]) -> None:
        """Call ``callback(request, userdata)`` after each inference. The request becomes idle when it returns.

        Raises RequestBusyError while an inference runs.
        """
        for index, request in enumerate(self._requests):
            request.on_end(functools.partial(self._on_end, index))
        self._callback = callback

    def start_async(self, inputs: Inputs = None, userdata: Any = None, share_inputs: bool = False) -> None:
        """Start an inference in an idle request, after waiting for one if all are busy.

        Raises TensorError for inputs that do not fit. Raises the first error of earlier inferences, once, instead of
        starting this one. Raises RequestBusyError if it is called in the callback while all requests are busy.
        """
        index = None
        try:
            index = self._first_idle("start_async", takes_it=True)
            self._userdata[index] = userdata
            self._requests[index].start_async(inputs, share_inputs=share_inputs)
        except BaseException:
            if index is not None and self._requests[index]._request.running is None:  # else its end adds it
                self._add_idle(index)
            raise

    def get_idle_request_id(self) -> int:
        """Return the index of the request that ``start_async`` will use next, after waiting for one if all are busy.

        Raises the errors of ``start_async``.
        """
        return self._first_idle("get_idle_request_id", takes_it=False)

    @property
    def userdata(self) -> list[Any]:
        """The ``userdata`` of the last inference of each request."""
        return list(self._userdata)

    def is_ready(self) -> bool:
        """Return whether a request is idle, so that start_async() would not wait."""
        return bool(self._idle)

    def wait_all(self) -> None:
        """Wait for all inferences. Raises the first error of an inference, unless start_async() has raised it.

        Raises RequestBusyError if it is called in the callback of the queue.
        """
        if self._is_in_callback():
            raise RequestBusyError("wait_all() in the callback of a queue would wait for the callback itself")
        for request in self._requests:
            with contextlib.suppress(Exception):  # _on_end() has recorded it
                request.wait()
        with self._lock:
            self._raise_first_error()

    def _first_idle(self, caller: str, takes_it: bool) -> int:
        """Return the index of the first idle request, after waiting for one if all are busy; it may be taken."""
        while True:
            with self._lock:
                if self._idle:
                    self._raise_first_error()
                    return self._idle.popleft() if takes_it else self._idle[0]
                end = End()
                self._waiting.append(end)
            if self._is_in_callback():
                raise RequestBusyError(
                    f"{caller}() in the callback of a queue cannot wait, and all {len(self)} requests are busy: "
                    "check is_ready() first"
                )
            end.wait()

    def _add_idle(self, index: int) -> None:
        with self._lock:
            if index not in self._idle:
                self._idle.append(index)
            waiting, self._waiting = self._waiting, []
        for end in waiting:
            end.set(None)

    def _is_in_callback(self) -> bool:
        return threading.get_ident() in self._in_callback

    def _on_end(self, index: int, error: Exception | None) -> None:
        request, thread = self._requests[index], threading.get_ident()
        self._in_callback.add(thread)
        try:
            if error is not None:
                self._add_error(error)
            if self._callback is not None:
                self._callback(request, self._userdata[index])
        except BaseException as callback_error:
            self._add_error(as_exception(callback_error, "the callback of the queue failed"))
        finally:
            self._in_callback.discard(thread)
            self._add_idle(index)

    def _add_error(self, error: Exception) -> None:
        with self._lock:
            if self._first_error is None:
                self._first_error = error

    def _raise_first_error(self) -> None:
        """Raise the first error, once. The caller has the lock."""
        error, self._first_error = self._first_error, None
        if error is not None:
            raise error

    def __repr__(self) -> str:
        return f"<AsyncInferQueue: {len(self)} jobs>"

    def __len__(self) -> int:
        return len(self._requests)

    def __iter__(self) -> Iterator[InferRequest]:
        return iter(self._requests)

    def __getitem__(self, index: int) -> InferRequest:
        return self._requests[index]


def _optimal_number(model: CompiledModel) -> int:
    try:
        return model.get_property(props.optimal_number_of_infer_requests)
    except PropertyError:
        return 1
