"""TranslatorRegistry: translators by domain, operator type and version."""

from hetero.frontend.translation.translators import TranslatorRegistry


def test_the_newest_translator_that_is_not_newer_than_the_model_is_used():
    registry = TranslatorRegistry()
    for since in (1, 7):
        registry.register("Scale", since=since)(f"from {since}")
    assert [registry.find("Scale", version) for version in (1, 6, 7, 20)] == ["from 1"] * 2 + ["from 7"] * 2
    assert registry.find("Other", 1) is None


def test_each_domain_has_its_own_operators():
    registry = TranslatorRegistry()
    registry.register("Scale")("onnx's")
    registry.register("Scale", "Shift", domain="org.me")("mine")
    assert registry.find("Scale", 13) == "onnx's"
    assert registry.find("Scale", 1, "org.me") == registry.find("Shift", 1, "org.me") == "mine"
    assert registry.find("Shift", 13) is None
