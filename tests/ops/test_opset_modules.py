"""The modules hetero.opset1 … hetero.opset17 are filled on first access, also by several threads at once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from hetero.ops import opsets
from hetero.opset_modules import OpsetModule


def test_a_module_is_complete_for_a_thread_while_another_one_fills_it(monkeypatch):
    module, main = OpsetModule(13), threading.current_thread()
    filling, go, members_of = threading.Event(), threading.Event(), opsets.members_of

    def held(opset):
        if threading.current_thread() is not main:
            filling.set()
            assert go.wait(60)
        return members_of(opset)

    monkeypatch.setattr(opsets, "members_of", held)
    with ThreadPoolExecutor(1) as threads:
        other = threads.submit(getattr, module, "relu")
        try:
            assert filling.wait(60)
            assert module.Relu is opsets.classes_in(13)["Relu"] and "relu" in dir(module)
            mine = module.relu
        finally:
            go.set()
        assert other.result(60) is mine is module.relu


def test_a_name_that_was_missing_when_another_thread_filled_the_module_is_found():
    module = OpsetModule(13)
    dir(module)
    assert module.__getattr__("relu") is module.relu
    with pytest.raises(AttributeError, match="opset13 has no operation rleu"):
        module.__getattr__("rleu")
