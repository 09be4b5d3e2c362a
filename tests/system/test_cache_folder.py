"""Cache folders are private to their user, and unusable ones cause no errors."""

import os
import resource
import stat

import pytest

from hetero.system.cache_folder import cache_folder, write_cached
from tests.interpreter import run_python


def test_a_new_folder_is_private_to_the_user(tmp_path):
    folder = cache_folder(tmp_path / "new" / "cache")
    assert folder == tmp_path / "new" / "cache"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert cache_folder(folder) == folder


def test_a_folder_of_another_user_is_not_used(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    assert cache_folder(tmp_path) is None
    assert caplog.messages == [f"the cache folder {tmp_path} is not used: it belongs to another user"]


UNUSABLE = {
    "over-long name": ("x" * 300, "File name too long"),
    "over-long path": ("/".join(["x" * 200] * 30), "File name too long"),
    "file": ("file", "File exists"),
    "inside a file": ("file/folder", "Not a directory"),
    "null character": ("a\0b", "embedded null byte"),
}


@pytest.mark.parametrize(("name", "reason"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_folder_that_cannot_be_created_is_reported_once(name, reason, tmp_path, caplog):
    (tmp_path / "file").touch()
    assert [cache_folder(tmp_path / name) for _ in range(2)] == [None, None]
    (message,) = caplog.messages
    assert message.startswith("the cache folder ") and message.endswith(f" is not used: {reason}")


def test_a_folder_that_cannot_be_read_is_not_used(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may read everything
    assert cache_folder(tmp_path) is None
    assert "it cannot be read" in caplog.text


LIMITED = """
import sys
from pathlib import Path
from hetero.system.cache_folder import write_cached
for name in ("one", "two"):
    write_cached(Path(sys.argv[1], name), [bytes(5000)] * 40)
write_cached(Path(sys.argv[1], "small"), [bytes(5000)])
"""


@pytest.mark.slow
def test_a_file_that_cannot_be_written_whole_is_left_out_and_reported_once(tmp_path):
    """A limit of the file size stands for a full disk, which would need root rights."""
    _, logged = run_python(
        LIMITED, str(tmp_path), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    )
    assert logged == f"cannot write to the cache folder {tmp_path}: File too large"
    assert [file.name for file in tmp_path.iterdir()] == ["small"]


def test_a_missing_folder_is_reported(tmp_path, caplog):
    write_cached(tmp_path / "gone" / "file", [b"content"])
    assert caplog.messages == [f"cannot write to the cache folder {tmp_path / 'gone'}: No such file or directory"]
