"""Spans: their nesting, threads and errors, and trace files."""

import itertools
import json
import subprocess
import sys
import threading

import numpy as np
import pytest

from hetero import Core, Model, Parameter, Type, ops
from hetero.system.tracing import Recorder, span
from tests.devices import PickyPlugin, core_with


def model() -> Model:
    x = Parameter(Type.f32, [-1, 2], name="x")
    return Model(ops.Exp(ops.Tanh(ops.Relu(x))), [x], "small")


def record(device: str, core: Core | None = None, in_background: bool = False) -> Recorder:
    core = core or Core()
    with Recorder() as recorder:
        request = core.compile_model(model(), device).create_infer_request()
        if in_background:
            request.start_async(np.ones([1, 2], np.float32))
            request.wait()
        else:
            request.infer(np.ones([1, 2], np.float32))
    return recorder


def inside(inner, outer) -> bool:
    return inner.thread == outer.thread and outer.start <= inner.start <= inner.end <= outer.end


def test_spans_nest_and_stay_in_order():
    with Recorder() as recorder:
        with span("outer", "model", 3), span("inner"):
            pass
        with span("later"):
            pass
    inner, outer, later = recorder.spans
    assert [s.name for s in recorder.spans] == ["inner", "outer", "later"]
    assert inside(inner, outer) and not inside(later, outer) and outer.end <= later.start
    assert (outer.detail, outer.request, outer.error) == ("model", 3, "")
    assert (inner.detail, inner.request, inner.thread_name) == ("", None, threading.current_thread().name)


def test_an_error_ends_the_span_and_is_named():
    with Recorder() as recorder, pytest.raises(ZeroDivisionError), span("outer"), span("failing"):
        1 / 0  # noqa: B018
    assert [(s.name, s.error) for s in recorder.spans] == [
        (name, "ZeroDivisionError('division by zero')") for name in ("failing", "outer")
    ]


def test_only_spans_that_begin_while_recording_are_recorded():
    before = span("before")
    with before, Recorder() as recorder:
        begun = span("begun while recording")
        begun.__enter__()
    with span("after"):
        begun.__exit__(None, None, None)
    assert [s.name for s in recorder.spans] == ["begun while recording"]


def test_recorders_do_not_disturb_each_other():
    with Recorder() as first:
        with Recorder() as second, span("both"):
            pass
        with span("first only"):
            pass
    assert [s.name for s in first.spans] == ["both", "first only"]
    assert [s.name for s in second.spans] == ["both"]


def test_trace_files_distinguish_threads(tmp_path):
    def work(barrier):
        for _ in range(100):
            with span("work", threading.current_thread().name):
                barrier.wait()

    barrier = threading.Barrier(4)
    with Recorder() as recorder, span("main"):
        threads = [threading.Thread(target=work, args=[barrier], name=f"worker {i}") for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    recorder.save(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
    spans = [e for e in events if e["ph"] == "X"]
    assert sorted(names.values()) == sorted([threading.current_thread().name, *(f"worker {i}" for i in range(4))])
    assert len(spans) == 401
    assert all(names[e["tid"]] == e["args"]["on"] for e in spans if e["name"] == "work")
    main = next(e for e in spans if e["name"] == "main")
    assert all(main["ts"] <= e["ts"] and e["ts"] + e["dur"] <= main["ts"] + main["dur"] for e in spans)


def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "trace.json"
    with Recorder() as recorder, span("one"):
        pass
    recorder.save(path)
    whole = path.read_bytes()
    monkeypatch.setattr("os.replace", lambda *paths: (_ for _ in ()).throw(OSError("no space left")))
    with pytest.raises(OSError, match="no space left"):
        recorder.save(path)
    assert path.read_bytes() == whole and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("device", "stages_of_device"),
    [("TEMPLATE", ["start"]), ("GPU", ["preprocess", "start", "wait", "postprocess"])],
)
@pytest.mark.parametrize("in_background", [False, True])
def test_the_steps_and_stages_of_a_request(device, stages_of_device, in_background):
    recorder = record(device, in_background=in_background)
    by_name = {s.name: s for s in recorder.spans}
    assert inside(by_name["fold_constants"], by_name["Core::compile_model"])
    public = by_name["InferRequest::start_async" if in_background else "InferRequest::infer"]
    stages = [s for s in recorder.spans if s.name in ("preprocess", "start", "wait", "postprocess")]
    assert [s.name for s in stages] == stages_of_device
    assert {s.request for s in stages} == {public.request} and {s.detail for s in stages} == {"small"}
    assert all(a.end <= b.start for a, b in itertools.pairwise(stages))
    if in_background:
        tasks = [s for s in recorder.spans if s.name == "task"]
        assert all(any(inside(stage, task) for task in tasks) for stage in stages)
        assert public.thread not in {s.thread for s in stages}
    else:
        assert all(inside(stage, public) for stage in stages)


@pytest.mark.parametrize("in_background", [False, True])
def test_the_subgraphs_of_several_devices(in_background):
    core = core_with(A=PickyPlugin(lambda node: node.type_info.name != "Tanh"))
    recorder = record("HETERO:A,TEMPLATE", core, in_background)
    subgraphs = [s for s in recorder.spans if s.name.startswith("subgraph")]
    assert [(s.name, s.detail, s.device) for s in subgraphs] == [
        ("subgraph 0", "small/0", "A"), ("subgraph 1", "small/1", "TEMPLATE"), ("subgraph 2", "small/2", "A"),
    ]  # fmt: skip
    if in_background:
        tasks = [s for s in recorder.spans if s.name == "task"]
        assert all(any(inside(subgraph, task) for task in tasks) for subgraph in subgraphs)
    starts = [s for s in recorder.spans if s.name == "start"]
    assert [[s.name for s in subgraphs if inside(start, s)] for start in starts[:3]] == [
        [f"subgraph {i}"] for i in range(3)
    ]
    assert len({s.request for s in (*subgraphs, *starts)}) == 1
    compiled = {(s.detail, s.device) for s in recorder.spans if s.name in ("Plugin::compile", "Plugin::compile_model")}
    assert {("small/0", "A"), ("small/1", "TEMPLATE"), ("small/2", "A")} <= compiled


ITT = """
import sys, types
calls = []
itt = types.ModuleType("ittapi")
itt.domain = lambda name: f"domain {name}"
itt.string_handle = lambda name: f"handle {name}"
itt.task_begin = lambda domain, handle: calls.append(("begin", domain, handle))
itt.task_end = lambda domain: calls.append(("end", domain))
sys.modules["ittapi"] = itt
from hetero.system.tracing import span
with span("outer", "net", 3, "GPU.0"), span("inner"):
    pass
print(calls)
"""
NESTED = [
    ("begin", "domain hetero", "handle GPU.0_net_Req3_outer"), ("begin", "domain hetero", "handle inner"),
    ("end", "domain hetero"), ("end", "domain hetero"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("library", "expected"), [("/opt/collector.so", NESTED), ("", [])])
def test_itt_tasks_if_a_collector_is_attached(library, expected):
    run = subprocess.run(
        [sys.executable, "-c", ITT], env={"INTEL_LIBITTNOTIFY64": library, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert run.stdout.strip() == str(expected)
