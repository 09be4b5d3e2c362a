"""The programs and files that README.md and docs/ show: they run, and they exist."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx.parser
import pytest
from typer.main import get_command

from hetero import Core, Model, Parameter, Type, ops
from hetero.run.cli import app
from hetero.run.yaml_runs.config import load_config
from hetero.run.yaml_runs.runner import run
from tests import zoo
from tests.tiers import in_sample

ROOT = Path(__file__).parents[1]
# Without the pages of operations, which docs/operation_pages.py writes.
WRITTEN = [path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name != "operations"]
PAGES = ["README.md", "CONTRIBUTING.md", *(str(path.relative_to(ROOT)) for path in WRITTEN)]
# The first page of the web site is README.md.
INDEX = "docs/index.md"


def blocks(language: str, page: str) -> list[str]:
    """Return the code blocks of a language in one page, in order."""
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


def commands(program: str) -> list[tuple[str, str]]:
    """Return the page and the arguments of each use of a program in the code blocks of the pages."""
    found = []
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8").replace("\\\n", "")
        found += [(page, line) for line in re.findall(rf"^    (?:\$ |\.venv/bin/)?{program} (.*)", text, re.MULTILINE)]
    return found


# Pages whose programs each run by themselves. Those of docs/plugins.md run in order, each in the names of those before.
ALONE = ["README.md", *(f"docs/{page}.md" for page in (
    "inference", "models", "placement", "performance", "custom_operations", "operations"
))]  # fmt: skip


def programs() -> list[tuple[str, int]]:
    """Return the page and the number of each Python program that runs alone, without those that need torch."""
    return [
        (page, number)
        for page in ALONE
        for number, program in enumerate(blocks("python", page))
        if "import torch" not in program
    ]


@pytest.fixture
def user_folder(tmp_path):
    """A folder with the files that programs name: models of the zoo, runs, and a program of torch.export."""
    for name in re.findall(r"\.zoo/(\w+)\.", "".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)):
        if name in zoo.MODELS:
            zoo.path(name)
    (tmp_path / ".zoo").symlink_to(zoo.folder(), target_is_directory=True)
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    for name in ("README.md", "Makefile"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copy(ROOT / "tests" / "frontend" / "pytorch" / "cases" / "convolutions.pt2", tmp_path / "resnet.pt2")
    return tmp_path


def run_as_user(folder, *command) -> str:
    """Run a command in a folder with the packages of this checkout. Return what it prints."""
    paths = os.pathsep.join(map(str, (ROOT, *(ROOT / "plugins").iterdir(), *sys.path)))
    environment = os.environ | {"PYTHONPATH": paths}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("page", "number"), programs())
def test_programs_run_as_pasted(page, number, user_folder):
    printed = run_as_user(user_folder, sys.executable, "-c", blocks("python", page)[number])
    assert "Traceback" not in printed
    if page == "README.md":  # the first example is divided
        devices, summary, best = printed.splitlines()
        assert "TEMPLATE" in devices and re.match(r"ONEDNN \d+/201 .*; GPU \d+ ", summary) and 0 <= int(best) < 1000


@pytest.mark.slow
@pytest.mark.own_sample
@pytest.mark.parametrize(
    ("page", "line"),
    [
        (page, line)
        for page, line in commands("hetero")
        if page in (*ALONE, "docs/yaml.md") and "NPU" not in line and in_sample(line, 8)
    ],
)
def test_commands_run_as_pasted(page, line, user_folder):
    command = shlex.split(line, comments=True)
    run_as_user(user_folder, sys.executable, "-m", "hetero", *command)


def test_extension_file(tmp_path):
    program = blocks("python", "docs/models.md")[-1]
    (tmp_path / "my_ops.py").write_text(program, encoding="utf-8")
    chain = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17, "me" : 1]>
        agraph (float[6] x) => (float[6] y) {
            a = me.MyRelu (x)
            b = me.MyClip <low = 0.5> (a)
            y = me.MyThreshold <alpha = 2.0> (b)
        }""")
    core = Core()
    core.add_extension(tmp_path / "my_ops.py")
    x = np.float32([-1, 0.25, 1, 3, 7, 2])
    assert core.compile_model(chain, "TEMPLATE")(x)[0].tolist() == [0, 0, 0, 3, 6, 0]


def test_custom_operation(tmp_path):
    (tmp_path / "operations.py").write_text(blocks("python", "docs/custom_operations.md")[0], encoding="utf-8")
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17, "me" : 1]>
        agraph (float[4] x) => (float[4] y) {
            a = Neg (x)
            y = me.SoftClip <limit = 2.0> (a)
        }""")
    core = Core()
    core.add_extension(tmp_path / "operations.py")
    x = np.float32([-8, -0.5, 0, 3])
    for device in ("GPU", "TEMPLATE"):
        np.testing.assert_allclose(core.compile_model(model, device)(x)[0], -x / (1 + np.abs(x) / 2), rtol=1e-6)


def test_pass(capsys):
    program = next(block for block in blocks("python", "docs/models.md") if "MatcherPass" in block)
    exec(program, {})
    assert capsys.readouterr().out == "['Parameter', 'Relu', 'Result']\n"


def test_placement_programs(user_folder, monkeypatch):
    """Both ways to pin an operation give the same placement."""
    monkeypatch.chdir(user_folder)
    counts = []
    for program in blocks("python", "docs/placement.md"):
        names = {}
        exec(compile(program, "docs/placement.md", "exec"), names)
        counts.append(names["compiled"].get_property("PLACEMENT_REPORT").counts)
    assert counts[0] == counts[1] and counts[0]["TEMPLATE"] == 1


def test_inference_programs(user_folder, monkeypatch):
    monkeypatch.chdir(user_folder)
    names = {}
    for program in blocks("python", "docs/inference.md") + blocks("python", "docs/performance.md"):
        exec(compile(program, "docs", "exec"), names)
    assert names["request"].results[0].shape == (1, 1000, 1, 1)
    inputs = [np.zeros([1, 3, 224, 224], np.float32)]
    squeezenet = Core().compile_model(user_folder / ".zoo" / "squeezenet.onnx", "TEMPLATE")
    assert names["best"] == 3 * 16 * [squeezenet(inputs)[0].argmax()]
    assert (user_folder / "trace.json").stat().st_size > 0
    assert names["model"].input().element_type is Type.u8


def test_yaml_runs(tmp_path, monkeypatch):
    for name in ("line.png", "page.png"):
        (tmp_path / name).write_bytes((ROOT / "configs" / name).read_bytes())
    one, chain, including = (tmp_path / name for name in ("common.yaml", "chain.yaml", "including.yaml"))
    for path, yaml in zip((one, chain, including), blocks("yaml", "docs/yaml.md"), strict=True):
        path.write_text(yaml, encoding="utf-8")
    (report,) = run(load_config(one, ["iterations=1"])).models
    assert report.outputs[1]["text"] == "Any device, one network: 2026"
    assert {s.device for s in report.placement.subgraphs} == {"GPU", "TEMPLATE"}
    _, recognition = run(load_config(chain, ["device=OPENVINO.CPU"])).models
    assert recognition.outputs[0]["text"] == "hetero runs one network on"
    monkeypatch.setenv("DEVICE", "TEMPLATE")
    assert (load_config(including).device, load_config(including).iterations) == ("TEMPLATE", 10)


def test_plugin_programs(capsys):
    """The programs about plugins run in order, each in the names of those before."""
    names = {}
    for program in blocks("python", "docs/plugins.md"):
        exec(compile(program, "docs/plugins.md", "exec"), names)
    printed = capsys.readouterr().out
    np.testing.assert_allclose(names["compiled"](np.float32([-1, 0, 1]))[0], softmax([0, 0, 1]), rtol=1e-6)
    assert set(names["compiled"].get_property("EXECUTION_DEVICES")) == {"NPU", "TEMPLATE"}
    assert (names["pads_begin"], names["pads_end"]) == ((1, 1), (1, 1))
    assert "not in f64" in printed and "NPU cannot run Softmax" in printed
    np.testing.assert_array_equal(names["host"], [[0, 1, 2], [3, 4, 5]])
    # One step of the whole graph, in the profile and in the runtime model.
    request = names["whole"].create_infer_request()
    np.testing.assert_allclose(request.infer([np.float32([-1, 0, 1])])[0], softmax([0, 0, 1]), rtol=1e-6)
    (info,) = [info for info in request.get_profiling_info() if info.node_type == "Graph"]
    assert info.node_name.startswith("Relu")
    (step,) = names["steps"]
    assert {name.partition("_")[0] for name in step.rt_info["originalLayersNames"].value.split(",")} == {
        "Relu",
        "Softmax",
    }


def test_pass_of_a_plugin():
    names = {}
    for program in blocks("python", "docs/plugins.md"):
        exec(compile(program, "docs/plugins.md", "exec"), names)
        if "exp_of_sum" in names:
            break
    a, b = Parameter(Type.f32, [2]), Parameter(Type.f32, [2])
    model = Model(ops.Exp(ops.Add(a, b)), [a, b])
    assert names["exp_of_sum"](model)
    assert [node.type_info.name for node in model.get_ordered_ops()][2:] == ["Exp", "Exp", "Multiply", "Result"]
    result = Core().compile_model(model, "TEMPLATE")([np.float32([1, 2]), np.float32([3, 4])])[0]
    np.testing.assert_allclose(result, np.exp([4, 6]), rtol=1e-6)


def softmax(values: list[float]) -> np.ndarray:
    exponentials = np.exp(values)
    return exponentials / exponentials.sum()


@pytest.mark.parametrize("page", PAGES)
def test_linked_files_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in link]
    configs = re.findall(r"configs/\w+\.yaml", text)
    missing = [link for link in links if not ((ROOT / page).parent / link).exists()]
    assert not missing + [config for config in configs if not (ROOT / config).exists()]


def test_every_page_is_linked_and_in_the_index():
    pages = {page for page in PAGES if re.fullmatch(r"docs/\w+\.md|docs/development/index\.md", page)} - {INDEX}
    assert set(re.findall(r"\((docs/[\w/]+\.md)\)", (ROOT / "README.md").read_text(encoding="utf-8"))) == pages
    (index,) = blocks("{toctree}", INDEX)
    assert {f"docs/{name}.md" for name in index.splitlines() if name and name[0] != ":"} == pages


@pytest.mark.parametrize(("page", "line"), commands("hetero"))
def test_commands_have_valid_arguments(page, line):
    """tests/run runs the commands."""
    arguments = shlex.split(line, comments=True)
    command = get_command(app)
    while hasattr(command, "commands"):
        command = command.commands[arguments.pop(0)]
    command.make_context(command.name, arguments)


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {line.split()[0] for _, line in commands("make")} <= set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
