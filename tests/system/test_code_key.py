"""The key of a class's code depends on all modules that this imports."""

import importlib.util
import os
import sys

import pytest

from hetero.system.code_key import code_key

FILES = {
    "mine/mine_operation.py": "import mine_beside\nfrom mine_elsewhere import two as t, three\nclass Mine: ...\n",
    "mine/mine_beside.py": "import os, mine_package.inner as inner\n",
    "elsewhere/mine_elsewhere.py": "two, three = 2, 3\ndef later():\n    import mine_deep\n",
    "elsewhere/mine_deep.py": "import mine_elsewhere  # a cycle\nimport mine_missing\n",
    "elsewhere/mine_package/__init__.py": "",
    "elsewhere/mine_package/inner.py": "from . import other\nfrom .. import nothing\n",
    "elsewhere/mine_package/other.py": "",
    "site-packages/mine_installed/__init__.py": "",
    "site-packages/mine_installed/part.py": "",
    "elsewhere/mine_unrelated.py": "",
}
COUNTS = sorted(set(FILES) - {"elsewhere/mine_unrelated.py", "site-packages/mine_installed/part.py"})


@pytest.fixture
def key(tmp_path, monkeypatch):
    """A function that returns the key of the class as a new process would."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    with open(tmp_path / "mine" / "mine_beside.py", "a") as file:
        file.write("from mine_installed.part import *\n")
    for folder in ("mine", "elsewhere", "site-packages"):
        monkeypatch.syspath_prepend(tmp_path / folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def computed():
        for name in [name for name in sys.modules if name.startswith("mine_")]:
            monkeypatch.delitem(sys.modules, name)
        importlib.invalidate_caches()
        spec = importlib.util.spec_from_file_location("mine_operation", tmp_path / "mine" / "mine_operation.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["mine_operation"] = module
        # Its imports are not run: the key comes from the files.
        exec("class Mine: pass", module.__dict__)
        return code_key(module.Mine)

    yield computed
    sys.modules.pop("mine_operation", None)


@pytest.mark.parametrize("file", FILES)
def test_an_edit(file, key, tmp_path):
    before = key()
    assert key() == before
    with open(tmp_path / file, "a") as opened:
        opened.write("# edited\n")
    assert (key() != before) is (file in COUNTS)


def test_an_installation_of_the_same_size(key, tmp_path):
    before, installed = key(), tmp_path / "site-packages" / "mine_installed" / "__init__.py"
    os.utime(installed, ns=(1, 1))
    assert key() != before


def test_a_class_without_a_file():
    class Local:
        pass

    assert code_key(Local) == code_key(Local)  # within a process

    class Other:
        pass

    assert code_key(Local) != code_key(Other)
