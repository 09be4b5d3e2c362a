"""What README.md shows does run."""

import re
from pathlib import Path

from hetero.run.config import load_config
from hetero.run.runner import run
from tests import zoo

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return text


def test_the_first_program(capsys):
    program = block("python").replace(".zoo/resnet50.onnx", str(zoo.path("resnet50")))
    exec(compile(program, "README.md", "exec"), {})
    devices, summary, best = capsys.readouterr().out.splitlines()
    assert "TEMPLATE" in devices and "GPU" in summary and 0 <= int(best) < 1000


def test_the_yaml_run(tmp_path):
    (tmp_path / "line.png").write_bytes((ROOT / "configs" / "line.png").read_bytes())
    (tmp_path / "run.yaml").write_text(block("yaml"), encoding="utf-8")
    report = run(load_config(tmp_path / "run.yaml", ["iterations=1"]))
    assert report.outputs[1]["text"] == "Any device, one network: 2026"
    assert {s.device for s in report.placement.subgraphs} == {"GPU", "TEMPLATE"}


def test_every_file_that_it_names_is_there():
    named = re.findall(r"\]\(([\w/.]+)\)|(configs/\w+\.yaml)", README)
    assert named and all((ROOT / (link or config)).exists() for link, config in named)
