"""A device that does not answer a query, or does not end a compilation, loses its operations after DEVICE_TIMEOUT."""

import threading

import numpy as np
import pytest

from hetero import Core
from hetero.system.errors import DeviceError
from tests.devices import PickyPlugin, core_with
from tests.dispatch.faulty import X, Y, chain, warnings_in

LIMIT = {"DEVICE_TIMEOUT": 2000}
PLACES = {
    "query_model": "A did not answer the query of model 'chain' within 100 ms",
    "compile": "A did not compile 'chain/0' within 100 ms",
    "compile_model": "A did not compile 'chain/0' within 100 ms",
    "import_model": "A did not import a subgraph within 100 ms",
}


class Hanging(PickyPlugin):
    """TEMPLATE without Exp, of which one method hangs until ``released`` is set."""

    def __init__(self, place: str) -> None:
        super().__init__(lambda node: place == "compile" or node.type_info.name != "Exp")
        self.place, self.released = place, threading.Event()

    def hang(self, place: str) -> None:
        if place == self.place:
            self.released.wait(60)

    def query_model(self, model, options):
        self.hang("query_model")
        return super().query_model(model, options)

    def compile_model(self, model, options, context=None):
        self.hang("compile_model")
        return super().compile_model(model, options, context)

    def compile(self, prepared):
        self.hang("compile")
        return super().compile(prepared)

    def import_model(self, sections, options, context=None):
        self.hang("import_model")
        return super().import_model(sections, options, context)


@pytest.fixture(params=PLACES)
def hanging(request):
    plugin = Hanging(request.param)
    yield plugin
    plugin.released.set()


@pytest.fixture(autouse=True)
def short_limit(monkeypatch):
    """A limit of 0.1 s for device A, and of 2 s for those that work, as the machine may be busy."""
    from hetero.dispatch.devices import listed_device

    call_within = listed_device.call_within

    def call(seconds, problem, *arguments):
        return call_within(0.1 if problem.startswith("A ") and seconds else seconds, problem, *arguments)

    monkeypatch.setattr(listed_device, "call_within", call)


def test_the_next_device_takes_over(hanging, tmp_path, caplog):
    core = core_with(A=hanging, B=PickyPlugin())
    if hanging.place == "import_model":
        core.compile_model(chain(), "HETERO:A,B", LIMIT | {"CACHE_DIR": tmp_path})
        core = core_with(A=hanging, B=PickyPlugin())
        compiled = core.compile_model(chain(), "HETERO:A,B", LIMIT | {"CACHE_DIR": tmp_path})
    else:
        compiled = core.compile_model(chain(), "HETERO:A,B", LIMIT)
        assert compiled.get_property("EXECUTION_DEVICES") == ["B"]
    (warning,) = warnings_in(caplog)
    assert PLACES[hanging.place] in warning
    np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)


@pytest.mark.parametrize("hanging", ["query_model", "compile"], indirect=True)
def test_the_error_names_the_device_if_there_is_no_other(hanging):
    core = core_with(A=hanging)
    with pytest.raises(DeviceError, match=PLACES[hanging.place]):
        core.compile_model(chain(), "HETERO:A", LIMIT)


def test_without_a_limit_calls_are_on_the_callers_thread():
    threads = []

    class Noting(PickyPlugin):
        def query_model(self, model, options):
            threads.append(threading.current_thread())
            return super().query_model(model, options)

    core_with(A=Noting()).compile_model(chain(), "HETERO:A")
    assert threads == [threading.current_thread()]


def test_errors_within_the_limit_are_those_of_the_device(caplog):
    class Failing(PickyPlugin):
        def query_model(self, model, options):
            raise TimeoutError("no answer from the bus")

    core: Core = core_with(A=Failing(), B=PickyPlugin())
    np.testing.assert_allclose(core.compile_model(chain(), "HETERO:A,B", LIMIT)(X)[0], Y, rtol=1e-6)
    assert "A failed to query model 'chain': TimeoutError: no answer from the bus" in warnings_in(caplog)[0]
