"""Tracing: spans of time around what hetero does, and who collects them: a Recorder, or an ITT collector such as VTune.

    with Recorder() as recorder:
        compiled(inputs)
    recorder.save("trace.json")  # opens in https://ui.perfetto.dev

Without a collector a span costs about as much as a function call.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from hetero.files import replacing

Function = TypeVar("Function", bound=Callable[..., Any])


class Span:
    """A piece of work: its name, what it worked on, its thread, and the infer request that it belongs to, if any.

    ``start`` and ``end`` are nanoseconds of ``time.perf_counter_ns``. ``thread`` numbers threads from 0 in the order in
    which they began their first span; ``error`` is the error that ended the work, in words, or empty.
    """

    __slots__ = ("_collectors", "detail", "end", "error", "name", "request", "start", "thread", "thread_name")

    def __init__(self, name: str, detail: str, request: int | None, collectors: tuple[Collector, ...]) -> None:
        self.name, self.detail, self.request = name, detail, request
        self.start = self.end = 0
        self.error = ""
        self._collectors = collectors

    def __enter__(self) -> Span:
        self.thread, self.thread_name = _thread_number(), threading.current_thread().name
        for collector in self._collectors:
            collector.begin(self)
        self.start = time.perf_counter_ns()
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self.end = time.perf_counter_ns()
        if error is not None:
            self.error = repr(error)  # the error itself would keep alive what its frames hold
        # Those that saw it begin see it end, in the reverse order.
        for collector in reversed(self._collectors):
            collector.finish(self)


class Collector(Protocol):
    """Told of every span when it begins and when it ends, on the span's thread."""

    def begin(self, span: Span) -> None: ...
    def finish(self, span: Span) -> None: ...


class _NoSpan:
    """Stands for a span where nobody collects."""

    __slots__ = ()

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        return


_NO_SPAN = _NoSpan()
_collectors: tuple[Collector, ...] = ()
_lock = threading.Lock()
_thread_numbers = itertools.count()
_of_thread = threading.local()


def span(name: str, detail: str = "", request: int | None = None) -> Span | _NoSpan:
    """A context manager around a piece of work; ``detail`` says what it works on, such as a model's name."""
    return Span(name, detail, request, _collectors) if _collectors else _NO_SPAN


def is_traced() -> bool:
    """Whether anybody collects spans, for code that runs so often that spans for nobody would count."""
    return bool(_collectors)


def traced(name: str) -> Callable[[Function], Function]:
    """A decorator: every call of the function is a span of this name."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            with span(name):
                return function(*arguments, **options)

        return call  # type: ignore[return-value]

    return decorate


class Recorder:
    """Collects the spans of all threads that begin while it is entered, in the order in which they end."""

    def __init__(self) -> None:
        self.spans: list[Span] = []

    def __enter__(self) -> Recorder:
        _add_collector(self)
        return self

    def __exit__(self, *error: object) -> None:
        _remove_collector(self)

    def begin(self, span: Span) -> None:
        return

    def finish(self, span: Span) -> None:
        self.spans.append(span)

    def to_chrome_trace(self) -> dict[str, Any]:
        """The spans as Chrome's trace events, a row for each thread.

        Format: "Trace Event Format", complete ("X") and metadata ("M") events; times in microseconds.
        """
        spans = sorted(self.spans, key=lambda s: s.start)
        rows = dict.fromkeys((s.thread, s.thread_name) for s in spans)
        process = os.getpid()
        names = [
            {"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": name}}
            for thread, name in rows
        ]
        return {"displayTimeUnit": "ms", "traceEvents": names + [_event(s, process) for s in spans]}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace as JSON, whole or not at all. Raises OSError."""
        content = json.dumps(self.to_chrome_trace()).encode()
        with replacing(Path(path)) as (file,):
            file.write(content)


class IttCollector:
    """Hands spans to whatever collects ITT tasks, as tasks of the domain ``hetero``."""

    def __init__(self) -> None:
        import ittapi

        self._itt = ittapi
        self._domain = ittapi.domain("hetero")
        self._handle = functools.cache(ittapi.string_handle)

    def begin(self, span: Span) -> None:
        self._itt.task_begin(self._domain, self._handle(span.name))

    def finish(self, span: Span) -> None:
        self._itt.task_end(self._domain)


def _add_collector(collector: Collector) -> None:
    global _collectors
    with _lock:
        _collectors = (*_collectors, collector)


def _remove_collector(collector: Collector) -> None:
    global _collectors
    with _lock:
        _collectors = tuple(other for other in _collectors if other is not collector)


def _thread_number() -> int:
    try:
        return _of_thread.number
    except AttributeError:
        _of_thread.number = next(_thread_numbers)
        return _of_thread.number


def _event(span: Span, process: int) -> dict[str, Any]:
    arguments = {"on": span.detail or None, "request": span.request, "error": span.error or None}
    return {
        "ph": "X", "cat": "hetero", "name": span.name, "pid": process, "tid": span.thread,
        "ts": span.start / 1000, "dur": (span.end - span.start) / 1000,
        "args": {key: value for key, value in arguments.items() if value is not None},
    }  # fmt: skip


def _collect_for_itt() -> None:
    """An ITT collector tells by this variable which library it has loaded into the programs that it looks at."""
    if os.environ.get("INTEL_LIBITTNOTIFY64"):
        try:
            _add_collector(IttCollector())
        except ImportError:
            return


_collect_for_itt()
