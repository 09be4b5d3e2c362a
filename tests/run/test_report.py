"""The report page: its data, and an HTML file that names with any characters leave intact."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from typer.testing import CliRunner

from hetero import Core, Model, Parameter, Type, ops, save_model
from hetero.plugin import installed_plugins
from hetero.run.cli import app
from hetero.run.report.data import executed_steps, report_data
from hetero.run.report.page import to_html
from tests.devices import PickyPlugin, core_with

STRANGE = "</script><!-- /* page */ \N{SNOWMAN}\u2028 \"'"
X = np.float32([[-1, 0, 1]])


def diamond(name="relu") -> Model:
    """x -> Relu -> Exp -> Add, where Add also reads Relu."""
    x = Parameter(Type.f32, [1, 3], name="x")
    relu = ops.Relu(x, name=name)
    return Model([ops.Add(relu, ops.Exp(relu, name="exp"), name="add")], [x], "diamond")


def data_of(model, device="HETERO:A,B", **properties):
    core = core_with(A=PickyPlugin(lambda node: node.type_info.name != "Exp"), B=PickyPlugin())
    return report_data(core, model, "model.xml", device, [X], properties, lambda *_: None)


def embedded(html):
    """Return the data in a page, and the texts of its scripts."""
    texts = []

    class Scripts(HTMLParser):
        def handle_starttag(self, tag, attributes):
            assert not {"src", "href"} & {name for name, _ in attributes}  # needs no other file
            if tag == "script":
                texts.append("")

        def handle_data(self, data):
            if self.lasttag == "script":
                texts[-1] += data

    Scripts().feed(html)
    (data,) = [text for text in texts if text.strip().startswith("const report")]
    return json.loads(data.strip().removeprefix("const report = ").removesuffix(";")), texts


def test_graph_subgraphs_and_boundaries():
    data = data_of(diamond())
    assert [(n.name, n.type_name, n.device, n.subgraph, n.inputs) for n in data.nodes] == [
        ("x", "Parameter", None, None, []),
        ("relu", "Relu", "A", 0, [(0, 0)]),
        ("exp", "Exp", "B", 1, [(1, 0)]),
        ("add", "Add", "A", 2, [(1, 0), (2, 0)]),
        ("add", "Result", None, None, [(3, 0)]),
    ]
    assert data.nodes[2].reason == "A: A is picky"
    assert [(s.device, s.operations) for s in data.subgraphs] == [("A", 1), ("B", 1), ("A", 1)]
    assert all(s.milliseconds > 0 for s in data.subgraphs)
    assert [(b.value, b.byte_size, b.source, b.targets) for b in data.boundaries] == [
        ("relu", 12, 0, (1, 2)),
        ("exp", 12, 1, (2,)),
    ]


def test_timeline_of_overlapped_requests():
    data = data_of(diamond())
    assert {span.name for span in data.spans if span.name.startswith("subgraph")} == {f"subgraph {i}" for i in range(3)}
    requests = {span.request for span in data.spans}
    assert requests == set(range(len(requests))) and len(requests) > 1
    assert min(span.start for span in data.spans) == 0
    assert all(span.start <= span.end for span in data.spans)
    assert data.latency > 0 and data.throughput > 0


def test_live_bytes_of_each_step():
    compiled = Core().compile_model(diamond(), "TEMPLATE", {"PERF_COUNT": True})
    compiled(X)
    steps, unknown_sizes = executed_steps(compiled.get_runtime_model())
    # x and relu; relu and exp; relu, exp and add: 12 bytes each.
    assert [(step.type_name, step.live_bytes) for step in steps] == [("Relu", 24), ("Exp", 24), ("Add", 36)]
    assert all(step.milliseconds is not None for step in steps) and unknown_sizes == 0


def test_values_of_unknown_size_are_counted():
    x = Parameter(Type.f32, [-1, 3], name="x")
    compiled = Core().compile_model(Model([ops.Relu(x)], [x]), "TEMPLATE")
    steps, unknown_sizes = executed_steps(compiled.get_runtime_model())
    assert [step.live_bytes for step in steps] == [0] and unknown_sizes == 2


def test_a_fused_step_is_named_by_its_operations():
    """GPU runs a chain of element-wise operations as one kernel."""
    x = Parameter(Type.f32, [1, 3], name="x")
    model = Model([ops.Exp(ops.Relu(ops.Sigmoid(x)))], [x])
    data = report_data(Core(), model, "model.xml", "GPU", [X], {}, lambda *_: None)
    assert [step.type_name for step in data.steps] == ["Sigmoid + Relu + Exp"]


class Cells(HTMLParser):
    """The texts of paragraphs and cells."""

    def __init__(self, html):
        super().__init__()
        self.texts = []
        self.feed(html)

    def handle_data(self, data):
        self.texts.append(data)


def test_a_notebook_shows_models_and_their_placement():
    model = diamond("<b>relu</b>")
    model.friendly_name = "<i>diamond"
    core = core_with(A=PickyPlugin(lambda node: node.type_info.name != "Exp"), B=PickyPlugin())
    assert Cells(model._repr_html_()).texts[0] == "Model '<i>diamond', 3 operations"
    compiled = core.compile_model(model, "HETERO:A,B")
    report = compiled.get_property("PLACEMENT_REPORT")
    texts = Cells(compiled._repr_html_()).texts
    assert report.summary() in texts and "A: A is picky" in texts and "f32" in texts and "[1,3]" in texts
    assert "<i>diamond" not in compiled._repr_html_()
    # Without a placement: the devices alone.
    assert "'<i>diamond' compiled for TEMPLATE" in Cells(Core().compile_model(model, "TEMPLATE")._repr_html_()).texts


def test_names_with_any_characters():
    html = to_html(data_of(diamond(STRANGE)))
    data, scripts = embedded(html)
    assert data["nodes"][1]["name"] == STRANGE
    assert len(scripts) == 3 and not re.search(r"/\* (libraries|data|page) \*/\n", html)
    assert "function draw(view)" in scripts[2] and "const PANELS" in scripts[2]


def test_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(installed_plugins().devices, "PICKY", lambda: PickyPlugin())
    save_model(diamond(), "model.xml")
    result = CliRunner().invoke(app, ["report", "model.xml", "-d", "PICKY", "-o", "page.html"])
    assert result.exit_code == 0, result.stderr
    assert result.stdout == "PICKY 3/3 operations in 1 subgraph\nwritten: page.html\n"
    data, _ = embedded((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert (data["model"], data["device"]) == ("model.xml", "HETERO:PICKY")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["-d", "AUTO"], "AUTO runs whole models and has no placement to report: use HETERO:A,B or one device"),
        (["-d", "TEMPLATE", "-o", "nowhere/page.html"], "there is no folder nowhere to write page.html into"),
        (["-d", "TEMPLATE", "-o", "model.xml"], "model.xml cannot be written: model.xml is read by this run"),
    ],
)
def test_errors(arguments, problem, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_model(diamond(), "model.xml")
    result = CliRunner().invoke(app, ["report", "model.xml", *arguments])
    assert (result.exit_code, result.stderr.replace(f"{tmp_path}/", "")) == (2, f"error: {problem}\n")
