"""The registry of translators: by domain, type of operator and version."""

import pytest

from hetero.frontend.onnx import registry


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch):
    monkeypatch.setattr(registry.translators, "_by_operator", {})


def test_the_newest_that_is_not_newer_than_the_model():
    for since in (1, 7):
        registry.translator("Scale", since=since)(f"from {since}")
    assert [registry.find_translator("Scale", version) for version in (1, 6, 7, 20)] == ["from 1"] * 2 + ["from 7"] * 2
    assert registry.find_translator("Other", 1) is None


def test_domains_have_operators_of_their_own():
    registry.translator("Scale")("onnx's")
    registry.translator("Scale", "Shift", domain="org.me")("mine")
    assert registry.find_translator("Scale", 13) == "onnx's"
    assert registry.find_translator("Scale", 1, "org.me") == registry.find_translator("Shift", 1, "org.me") == "mine"
    assert registry.find_translator("Shift", 13) is None
