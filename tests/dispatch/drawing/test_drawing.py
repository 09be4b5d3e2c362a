"""Drawings of a placement: their contents, and valid documents for names with any characters."""

import logging
import re

import numpy as np

from hetero import Model, Parameter, Type, ops
from hetero.dispatch.drawing import PlacedOn, picture_of_affinities
from hetero.dispatch.drawing.picture import COLORS, to_dot
from tests.devices import PickyPlugin, core_with

STRANGE = 'a "b" \\n \\ <&> \N{SNOWMAN}\x07\ud800 \n]]>'
QUOTED = r'"((?:[^"\\]|\\.)*)"'


def model(name="net", middle="exp") -> Model:
    x = Parameter(Type.f32, [-1, 4], name="x")
    x.output(0).names = {"x"}
    exp = ops.Exp(ops.Relu(x, name="relu"), name=middle)
    total = ops.Add(exp, np.float32([1]), name="total")
    return Model([total, exp], [x], name)


def drawn(folder, monkeypatch, network, **options):
    monkeypatch.setenv("HETERO_VISUALIZE", str(folder))
    core = core_with(A=PickyPlugin(lambda n: n.type_info.name != "Exp"), B=PickyPlugin())
    core.compile_model(network, "HETERO:A,B", options)
    return {file.name.split(".", 1)[1]: file.read_text() for file in folder.iterdir()}


def unquoted(text):
    """Return the text of a quoted string of DOT, without its quotes."""
    return re.sub(r"\\(.)", lambda match: {"n": "\n"}.get(match[1], match[1]), text)


def boxes(dot):
    """Return the tooltip, the lines of text and the color of each box."""
    found = re.findall(rf"^  n\d+ \[label={QUOTED}, tooltip={QUOTED}, fillcolor={QUOTED}", dot, re.M)
    return [(unquoted(tooltip), unquoted(label).split("\n"), color) for label, tooltip, color in found]


def lines(dot):
    """Return the tooltips of the lines."""
    return [unquoted(tooltip) for tooltip in re.findall(rf"^  n\d+ -> n\d+ \[tooltip={QUOTED}\]", dot, re.M)]


def title(dot):
    return unquoted(re.search(rf"^  label={QUOTED}", dot, re.M)[1]).split("\n")


def test_operations_have_the_color_of_their_device(tmp_path, monkeypatch):
    dot = drawn(tmp_path, monkeypatch, model())["affinities.dot"]
    a, b = COLORS[0][0], COLORS[1][0]
    assert boxes(dot) == [
        ("input 'x' f32[?,4]", ["input x", "f32[?,4]"], "#ffffff"),
        ("Relu 'relu'\nA: first device\n'relu' f32[?,4]", ["Relu", "relu"], a),
        ("Exp 'exp'\nB: A: A is picky\n'exp' f32[?,4]", ["Exp", "exp"], b),
        ("Add 'total'\nA: first device\n'total' f32[?,4]", ["Add", "total"], a),
        ("output 'total' f32[?,4]", ["output total", "f32[?,4]"], "#ffffff"),
        ("output 'exp' f32[?,4]", ["output exp", "f32[?,4]"], "#ffffff"),
    ]
    assert lines(dot)[:2] == ["'x' f32[?,4]", "'relu' f32[?,4]"] and len(lines(dot)) == 5
    legend = re.findall(rf"^    d\d+ \[label={QUOTED}, fillcolor={QUOTED}", dot, re.M)
    assert title(dot) == ["net: operations by device"] and legend == [("A", a), ("B", b)]


def test_subgraphs_have_their_operations_and_the_values_between_them(tmp_path, monkeypatch):
    dot = drawn(tmp_path, monkeypatch, model())["subgraphs.dot"]
    assert [text for _, text, _ in boxes(dot)] == [
        ["input x", "f32[?,4]"],
        ["0: A", "1 operation", "1 Relu"],
        ["f32[?,4]"],
        ["1: B", "1 operation", "1 Exp"],
        ["f32[?,4]"],
        ["2: A", "1 operation", "1 Add"],
        ["output total", "f32[?,4]"],
        ["output exp", "f32[?,4]"],
    ]
    between = [tooltip for tooltip, text, _ in boxes(dot) if text == ["f32[?,4]"]]
    assert between[0] == "'relu' f32[?,4], unknown size: subgraph 0 to 1, in shared host memory"
    assert len(lines(dot)) == 7
    assert title(dot)[:2] == ["net", "A 2/3 operations (66.7% of the work) in 2 subgraphs"]


def test_many_values_between_two_subgraphs_are_counted(tmp_path, monkeypatch):
    x = Parameter(Type.f32, [2], name="x")
    first = [ops.Relu(x, name=f"a{index}") for index in range(7)]
    second = ops.Concat([ops.Tanh(value, name=f"b{index}") for index, value in enumerate(first)], 0)
    dot = drawn(tmp_path, monkeypatch, Model(second, [x]), AFFINITIES={"b*": "B"})["subgraphs.dot"]
    assert ["f32[2]", "f32[2]", "f32[2]", "f32[2]", "and 3 more"] in [text for _, text, _ in boxes(dot)]


def test_names_may_hold_anything(tmp_path, monkeypatch, caplog):
    # The placement summary has the name too, and pytest-xdist cannot transfer a logged unpaired surrogate.
    caplog.set_level(logging.ERROR, "hetero.HETERO.placement")
    found = drawn(tmp_path, monkeypatch, model(STRANGE, STRANGE))
    assert len(found) == 2
    shown = re.sub("[\x07\ud800]", "\ufffd", STRANGE)
    tooltips = [tooltip for tooltip, _, _ in boxes(found["affinities.dot"])]
    assert f"Exp '{shown}'\nB: A: A is picky\n'{shown}' f32[?,4]" in tooltips
    for kind in ("affinities.dot", "subgraphs.dot"):
        statements = re.sub(QUOTED, "Q", found[kind])
        assert set(statements) <= set(
            "digraphsubclusternode_labeltooltipfillcolorfontcolorshapeplaintextstylefilledQ"
            "boxfontsizegray0123456789loc=;,[]{}-> \n"
        )


def test_unsupported_operations_are_white():
    network = model()
    where = {
        "relu": PlacedOn("A", "first device"),
        "exp": PlacedOn(None, "A: not supported"),
        "total": PlacedOn("A", "x"),
    }
    found = {text[1]: fill for _, text, fill in boxes(to_dot(picture_of_affinities(network, ["A"], where)))}
    assert (found["relu"], found["exp"]) == (COLORS[0][0], "#ffffff")


def test_models_of_the_same_name_have_files_of_their_own(tmp_path, monkeypatch):
    for _ in range(2):
        drawn(tmp_path, monkeypatch, model("twice / net"))
    assert len(list(tmp_path.glob("twice_net.*"))) == len(list(tmp_path.glob("twice_net-2.*"))) == 2
    assert len(list(tmp_path.iterdir())) == 4


def test_a_folder_that_cannot_be_written_is_a_warning(tmp_path, monkeypatch, caplog):
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    monkeypatch.setenv("HETERO_VISUALIZE", str(blocked))
    with caplog.at_level(logging.WARNING):
        compiled = core_with(A=PickyPlugin()).compile_model(model(), "HETERO:A")
    (warning,) = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert warning == f"'net' is not drawn: HETERO_VISUALIZE={blocked} cannot be written: File exists"
    np.testing.assert_allclose(compiled(np.zeros([1, 4], np.float32))[0], np.full([1, 4], 2))


def test_an_unfinished_drawing_leaves_no_file(tmp_path, monkeypatch):
    def fail(*paths):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    assert drawn(tmp_path, monkeypatch, model()) == {}


def test_a_picture_of_10_000_operations():
    x = Parameter(Type.f32, [1])
    value = x
    for index in range(10_000):
        value = ops.Relu(value, name=f"r{index}")
    network = Model(value, [x])
    where = {f"r{index}": PlacedOn("AB"[index % 2], "") for index in range(10_000)}
    dot = to_dot(picture_of_affinities(network, ["A", "B"], where))
    assert len(boxes(dot)) == 10_002 and len(lines(dot)) == 10_001
