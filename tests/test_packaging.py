"""The packages of the repository fit together: `make wheels` builds, installs and runs them."""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement

from hetero import get_version

ROOT = Path(__file__).parents[1]
HETERO = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PLUGINS = [tomllib.loads(path.read_text())["project"] for path in sorted(ROOT.glob("plugins/*/pyproject.toml"))]


def test_packages_have_one_version():
    """A plugin requires the minor version of hetero that it has itself."""
    assert {project["version"] for project in (HETERO, *PLUGINS)} == {get_version()}
    minor = ".".join(get_version().split(".")[:2])
    assert all(f"hetero=={minor}.*" in project["dependencies"] for project in PLUGINS)


def test_each_plugin_and_its_options_are_extras_of_hetero():
    extras = [Requirement(text) for texts in HETERO["optional-dependencies"].values() for text in texts]
    for plugin in PLUGINS:
        offered = [extra for extra in extras if extra.name == plugin["name"]]
        assert all(plugin["version"] in extra.specifier for extra in offered)
        assert {frozenset(extra.extras) for extra in offered} == {
            frozenset(), *(frozenset({option}) for option in plugin.get("optional-dependencies", ()))
        }  # fmt: skip


def test_packages_have_the_license():
    text = (ROOT / "LICENSE").read_text()
    assert all((path.parent / "LICENSE").read_text() == text for path in ROOT.glob("plugins/*/pyproject.toml"))
    assert {project["license"] for project in (HETERO, *PLUGINS)} == {"Apache-2.0"}
