"""ProfilingInfo compared with OpenVINO's, profiles of inferences on devices, and mean times."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import numpy as np
import openvino
import pytest

import hetero
from hetero import ops
from hetero.plugin import STAGES, ExecutionTimes, ProfilingInfo

DEVICES = ["TEMPLATE", "GPU"]


def softmax_of_relu():
    x = hetero.Parameter(hetero.Type.f32, [3, 4], name="x")
    return hetero.Model([ops.Softmax(ops.Relu(x, name="relu"), 1, name="softmax")], [x])


def test_the_fields_are_openvinos():
    theirs = openvino.ProfilingInfo()
    fields = [name for name in dir(theirs) if not name.startswith("_")]
    ours = ProfilingInfo()
    for name in fields:
        assert hasattr(ours, name)
    for name in ("node_name", "node_type", "exec_type", "real_time", "cpu_time"):
        assert getattr(ours, name) == getattr(theirs, name)
    for status in ("NOT_RUN", "OPTIMIZED_OUT", "EXECUTED"):
        assert getattr(ProfilingInfo, status).name == status
        assert getattr(ProfilingInfo.Status, status).value == getattr(openvino.ProfilingInfo.Status, status).value


@pytest.mark.parametrize("device", DEVICES)
def test_stages_and_then_operations(device):
    compiled = hetero.Core().compile_model(softmax_of_relu(), device, {"PERF_COUNT": True})
    request = compiled.create_infer_request()
    request.infer([np.ones([3, 4], np.float32)])
    infos = request.profiling_info
    assert [(i.node_name, i.node_type) for i in infos[:4]] == [(stage, "Stage") for stage in STAGES]
    assert [(i.node_name, i.node_type) for i in infos[4:]] == [("relu", "Relu"), ("softmax", "Softmax")]
    for info in infos:
        assert info.status is ProfilingInfo.EXECUTED
        assert timedelta(0) <= info.cpu_time <= info.real_time < timedelta(minutes=1)


def info(name, milliseconds, status=ProfilingInfo.EXECUTED, kind="Relu"):
    return ProfilingInfo(name, kind, "", timedelta(milliseconds=milliseconds), status=status)


def test_means_of_inferences():
    times = ExecutionTimes()
    times.add(
        [info("a", 1), info("a", 2), info("b", 5), info("c", 9, ProfilingInfo.NOT_RUN), info("s", 9, kind="Stage")]
    )
    times.add([info("a", 5)])
    assert [times.mean(name) for name in "abcs"] == [timedelta(milliseconds=4), timedelta(milliseconds=5), None, None]


def test_inferences_of_several_threads_are_all_counted():
    times = ExecutionTimes()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: times.add([info("a", n)]), range(2000)))
    assert times.mean("a") == timedelta(milliseconds=999.5)
