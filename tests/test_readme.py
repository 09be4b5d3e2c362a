"""The examples of README.md run."""

import re
from pathlib import Path

import numpy as np
import onnx.parser

from hetero import Core
from hetero.run.config import load_config
from hetero.run.runner import run
from tests import zoo

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_first_program(capsys):
    program = blocks("python")[0].replace(".zoo/resnet50.onnx", str(zoo.path("resnet50")))
    exec(compile(program, "README.md", "exec"), {})
    devices, summary, best = capsys.readouterr().out.splitlines()
    assert "TEMPLATE" in devices and "GPU" in summary and 0 <= int(best) < 1000


def test_the_file_of_extensions(tmp_path):
    (tmp_path / "my_ops.py").write_text(blocks("python")[1], encoding="utf-8")
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


def test_the_custom_operation(tmp_path):
    (tmp_path / "operations.py").write_text(blocks("python")[2], encoding="utf-8")
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


def test_the_yaml_run(tmp_path):
    (tmp_path / "line.png").write_bytes((ROOT / "configs" / "line.png").read_bytes())
    (yaml,) = blocks("yaml")
    (tmp_path / "run.yaml").write_text(yaml, encoding="utf-8")
    report = run(load_config(tmp_path / "run.yaml", ["iterations=1"]))
    assert report.outputs[1]["text"] == "Any device, one network: 2026"
    assert {s.device for s in report.placement.subgraphs} == {"GPU", "TEMPLATE"}


def test_links_and_configurations_exist():
    files = re.findall(r"\]\(([\w/.]+)\)|(configs/\w+\.yaml)", README)
    assert files and all((ROOT / (link or config)).exists() for link, config in files)
