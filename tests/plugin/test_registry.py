"""Registration of devices by packages, including packages that fail, hang or register bad names."""

import importlib.metadata
import signal
import threading
from types import SimpleNamespace

import pytest
from hetero_template.plugin import TemplatePlugin

from hetero import Core, Model, get_version
from hetero.plugin import Device, hookimpl, installed_plugins
from hetero.plugin.loading import package_code
from hetero.system.errors import DeviceError


class Odd(BaseException):
    """An error that is not an Exception."""


def package(name: str, *devices, factory=TemplatePlugin, load=lambda: None, hook=lambda: None, requires=()):
    """Return the entry point of a package that registers devices. ``load`` and ``hook`` are called at those steps."""

    @hookimpl
    def hetero_register_devices(registry):
        hook()
        for device in devices:
            registry.register_device(device, factory)

    def load_package():
        load()
        return SimpleNamespace(hetero_register_devices=hetero_register_devices)

    dist = SimpleNamespace(name=name, version="1.0", requires=requires)
    return SimpleNamespace(name=name, dist=dist, load=load_package)


def installed() -> list:
    """Return the entry points of the packages that are installed."""
    return [*importlib.metadata.entry_points(group="hetero")]


@pytest.fixture
def install(monkeypatch):
    """Return a function that installs entry points and returns a Core."""

    def install(*entry_points) -> Core:
        monkeypatch.setattr("importlib.metadata.entry_points", lambda group: entry_points)
        installed_plugins.cache_clear()
        return Core()

    yield install
    installed_plugins.cache_clear()


def raising(error: BaseException | signal.Signals):
    """Return a function that raises an error or a signal."""

    def fail(*_):
        if isinstance(error, signal.Signals):
            signal.raise_signal(error)
        raise error

    return fail


FAULTS = {
    "import": lambda error: package("bad", "BAD", load=raising(error)),
    "hook": lambda error: package("bad", "BAD", hook=raising(error)),
    "factory": lambda error: package("bad", "BAD", factory=raising(error)),
    "devices": lambda error: package(
        "bad", "BAD", factory=type("NoDevices", (TemplatePlugin,), {"devices": raising(error)})
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt("k"), Odd("x"), StopIteration("s")])
def test_any_exception_of_a_package_disables_only_that_package(install, fault, error):
    core = install(FAULTS[fault](error), package("good", "GOOD"))
    assert core.host.available_devices == ["GOOD"]
    (reason,) = core.unavailable_devices.values()
    assert reason == f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("fault", FAULTS)
def test_the_traceback_is_logged_at_level_debug(install, caplog, fault):
    caplog.set_level("DEBUG", "hetero")
    install(FAULTS[fault](ValueError("out of order"))).available_devices  # noqa: B018
    (record,) = (record for record in caplog.records if record.exc_info)
    assert record.levelname == "DEBUG" and "out of order" in caplog.text and "in fail" in caplog.text


@pytest.mark.parametrize("fault", FAULTS)
def test_ctrl_c_ends_the_program(install, fault):
    handler = signal.default_int_handler  # a shell starts processes in the background with Ctrl-C ignored
    before = signal.signal(signal.SIGINT, handler)
    interrupted = FAULTS[fault](signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        install(interrupted).available_devices  # noqa: B018
    assert signal.signal(signal.SIGINT, before) == handler


@pytest.mark.parametrize("name", ["", "NPU.1", "N PU", "1NPU", "NPU:A", "NPU\n", None, 3, ["NPU"]])
def test_invalid_device_names_are_refused(install, name):
    core = install(package("bad", name), package("good", "GOOD"))
    problem = f"{name!r} cannot be the name of a device"
    assert core.host.available_devices == ["GOOD"]
    assert core.unavailable_devices["bad"].startswith(f"{problem} in package bad 1.0: it takes a letter")
    with pytest.raises(DeviceError, match="cannot be the name of a device: it takes a letter"):
        core.register_plugin(TemplatePlugin, name)


def test_a_package_registers_a_device_once(install):
    core = install(package("bad", "NPU", "NPU"))
    assert core.host.available_devices == ["NPU"]
    assert core.unavailable_devices == {"bad": "package bad 1.0 registers device NPU twice: it takes each name once"}


def register(registry):
    registry.register_device("NPU", TemplatePlugin)


DEVICES = "hetero_register_devices"
KNOWN = f"{DEVICES}, hetero_register_extensions, hetero_register_frontends"
HOOKS = {
    "misspelled": (
        {"hetero_register_device": hookimpl(lambda registry: None)},
        "did you mean hetero_register_devices?",
    ),
    "without the mark": ({DEVICES: register}, f"the hook {DEVICES} is never called: mark it by hetero.plugin.hookimpl"),
    "another name": ({"setup": hookimpl(lambda registry: None)}, f"there is no hook setup; it has {KNOWN}"),
    "neither": ({"heteroregister_devices": register}, "there is no hook heteroregister_devices; did you mean"),
    "none": ({"version": 3}, f"it registers nothing: a package has at least one of the hooks {KNOWN}"),
    "another argument": ({DEVICES: hookimpl(lambda devices: None)}, "takes one argument, registry, not devices"),
    "a plugin": (
        {DEVICES: hookimpl(lambda registry: registry.register_device("NPU", TemplatePlugin()))},
        "register_device('NPU', …) of package bad takes a function that returns a Plugin, not <",
    ),
    "two lines": ({DEVICES: hookimpl(lambda registry: {}["a\nb"])}, "KeyError: 'a"),
}


@pytest.mark.parametrize("mistake", HOOKS)
def test_a_hook_that_cannot_be_called_is_named(install, mistake, caplog):
    functions, reason = HOOKS[mistake]
    module = SimpleNamespace(**functions)
    core = install(SimpleNamespace(name="bad", dist=None, load=lambda: module), package("good", "GOOD"))
    assert core.host.available_devices == ["GOOD"]
    (failure,) = core.unavailable_devices.values()
    assert reason in failure and "\n" not in failure
    (warning,) = caplog.messages
    assert warning == f"plugin package bad cannot be used: {failure}"


class ClassOfDevice:
    id = "0"


LISTS = {
    "None": (None, "returned None, not a list of hetero.plugin.Device"),
    "a number": (3, "returned 3, not a list of hetero.plugin.Device"),
    "names": (["NPU.0"], "returned 'NPU.0' in its list, not a hetero.plugin.Device"),
    "a class": ([Device], "in its list, not a hetero.plugin.Device"),
    "another class": ([Device("0"), ClassOfDevice()], "in its list, not a hetero.plugin.Device"),
    "twice": ([Device("0"), Device("0")], "returned two devices with the id '0': each takes its own"),
    "a space": ([Device("a b")], "returned a device with the id 'a b': an id has letters, digits and underscores"),
    "a colon": ([Device("0"), Device("a:b")], "returned a device with the id 'a:b': an id has letters"),
    "a line": ([Device("0\n")], "returned a device with the id '0"),
    "a number as id": ([Device(0)], "returned a device with the id 0: an id has letters"),
    "no id": ([Device("0"), Device("")], "the id '': an id has letters, digits and underscores, such as '0'; only"),
    "no ids": ([Device(), Device()], "only a single device may have none"),
}


@pytest.mark.parametrize("mistake", LISTS)
def test_a_plugin_that_lists_something_else_than_devices_is_unavailable(install, mistake):
    found, reason = LISTS[mistake]
    lists = type("Lists", (TemplatePlugin,), {"devices": lambda self: found})
    core = install(*installed(), package("npu", "NPU", factory=lists), package("good", "GOOD"))
    assert {"GOOD", "TEMPLATE"} <= {*core.available_devices} and "NPU" not in core.available_devices
    assert core.unavailable_devices["NPU"].startswith("devices() of NPU in package npu 1.0 returned ")
    assert reason in core.unavailable_devices["NPU"] and "\n" not in core.unavailable_devices["NPU"]
    with pytest.raises(DeviceError, match="^device NPU is not available: devices\\(\\) of NPU in package npu 1.0"):
        core.compile_model(Model([], []), "NPU.0")


@pytest.mark.parametrize("made", [None, TemplatePlugin, "NPU"])
def test_a_factory_that_returns_no_plugin_is_named(install, made):
    core = install(package("npu", "NPU", factory=lambda: made), package("good", "GOOD"))
    assert core.host.available_devices == ["GOOD"]
    assert core.unavailable_devices == {"NPU": f"its factory returned {made!r}, not a hetero.plugin.Plugin"}


def test_other_iterables_of_devices_are_lists_too(install):
    for made in (lambda: {"0": Device("0"), "1": Device("1")}.values(), lambda: (Device(i) for i in ("0", "1"))):
        lists = type("Lists", (TemplatePlugin,), {"devices": lambda self, made=made: made()})
        assert install(package("npu", "NPU", factory=lists)).host.available_devices == ["NPU.0", "NPU.1"]


def test_a_plugin_that_finds_no_device_is_unavailable(install):
    class Absent(TemplatePlugin):
        def devices(self):
            return []

    class Unusable(Absent):
        def unavailable_devices(self):
            return {"OLD.0": "its driver is too old"}

    core = install(*installed(), package("npu", "NPU", factory=Absent), package("old", "OLD", factory=Unusable))
    reasons = {"NPU": "no device found", "OLD": "no device found; OLD.0: its driver is too old"}
    assert core.unavailable_devices.items() >= reasons.items()
    assert not {"NPU", "OLD"} & set(core.available_devices)
    with pytest.raises(DeviceError, match="^device NPU is not available: no device found$"):
        core.query_model(Model([], []), "HETERO:NPU")


@pytest.mark.parametrize("requirement", ["hetero==99.*", "hetero<0.1", 'hetero==0.2.*; python_version > "3"'])
def test_a_package_for_another_version_of_hetero_is_unavailable(install, requirement):
    """The code of the package is not imported, as it may fail in any way."""
    bad = package("bad", "BAD", load=raising(AssertionError()), requires=["numpy", requirement])
    core = install(bad, package("good", "GOOD", requires=["hetero==0.1.*", 'hetero==9.*; extra == "test"']))
    assert core.host.available_devices == ["GOOD"]
    specifier = requirement.removeprefix("hetero").partition(";")[0]
    expected = f"bad 1.0 requires hetero{specifier}, but hetero {get_version()} is installed: install versions that fit"
    assert core.unavailable_devices["bad"].startswith(expected)


@pytest.mark.parametrize(
    ("choices", "used"),
    [("", None), ("NPU=other", None), ("NPU", None), ("NPU=a-npu", "a-npu 1.0"), ("X=y, NPU=B_NPU", "b-npu 1.0")],
)
def test_the_user_chooses_between_packages_with_the_same_device(install, monkeypatch, choices, used):
    class A(TemplatePlugin):
        pass

    monkeypatch.setenv("HETERO_DEVICE_PACKAGES", choices)
    core = install(package("a-npu", "NPU", factory=A), package("b-npu", "NPU", "GOOD"))
    if used:
        assert core.host.available_devices == ["NPU", "GOOD"] and not core.unavailable_devices
        assert str(core.get_versions("NPU")["NPU"]) == used
        assert isinstance(core.get_plugin("NPU"), A) == (used == "a-npu 1.0")
    else:
        assert core.host.available_devices == ["GOOD"]
        assert core.unavailable_devices == {
            "NPU": "a-npu 1.0 and b-npu 1.0 each register a device NPU: "
            "set HETERO_DEVICE_PACKAGES to NPU=a-npu or NPU=b-npu"
        }


@pytest.mark.parametrize(
    ("part", "action"), [("load", "importing plugin package slow"), ("factory", "creating device SLOW")]
)
def test_hanging_package_code_is_reported_and_not_interrupted(install, monkeypatch, part, action):
    monkeypatch.setattr(package_code, "SECONDS_UNTIL_LOGGED", 0.01)
    warned, named = [], threading.Event()

    def warn(message, *arguments):
        warned.append(message % arguments)
        if warned[-1].startswith(action):  # a slow machine may take as long for the other part
            named.set()

    def wait():
        assert named.wait(20)
        return TemplatePlugin()

    monkeypatch.setattr(package_code.log, "warning", warn)
    core = install(package("slow", "SLOW", **{part: wait}))
    assert core.host.available_devices == ["SLOW"]
    assert f"{action} takes longer than 0.01 s and continues" in warned
