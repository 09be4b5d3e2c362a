"""Options of the form key=value: ``--set``, which changes a YAML run, and ``--property`` of a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hetero.dispatch.devices import parse_device_name
from hetero.run.yaml_runs.plain_yaml import Keys, parse_yaml
from hetero.system.errors import ConfigError


def apply_setting(data: dict[str, Any], setting: str) -> Keys:
    """Apply ``a.b.0=value`` to a run: keys of mappings and indices of lists, then a YAML value. Raises ConfigError.

    A key may contain dots if the run already has this key. Returns the path of the entry.
    """
    path, equals, text = setting.partition("=")
    if not equals or not path:
        raise ConfigError(f"--set {setting} is not of the form key=value")
    try:
        value = parse_yaml(text).data
    except ValueError:
        raise ConfigError(f"--set {setting}: the value is not valid YAML; quote it if it is text") from None
    container: Any = data
    parts, keys = path.split("."), []
    while True:
        key, parts = _next_key(container, parts, setting)
        keys.append(str(key))
        if not parts:
            break
        if isinstance(container, dict) and not isinstance(container.get(key), (dict, list)):
            container[key] = {}
        container = container[key]
    container[key] = value
    return tuple(keys)


def parse_properties(texts: Sequence[str], strict_device: str = "") -> dict[str, Any]:
    """Return the properties of texts such as ``NUM_STREAMS=2``, with those of ``--strict`` for a device if it is given.

    Raises ConfigError.
    """
    for text in texts:
        if not text.partition("=")[0] or "=" not in text:
            raise ConfigError(f"--property {text} is not of the form KEY=VALUE")
    properties = {key: value for key, _, value in (text.partition("=") for text in texts)}
    return properties | (strict_properties(strict_device) if strict_device else {})


def strict_properties(device: str) -> dict[str, bool]:
    """Return the properties of ``--strict``: the first device runs all operations.

    Raises ConfigError for a device string whose devices run whole models, each as it is free.
    """
    kind = parse_device_name(device).kind
    if kind in ("AUTO", "MULTI"):
        raise ConfigError(f"--strict is for one device or HETERO:A,B, and not for {device}")
    return {"STRICT": True} if kind in ("HETERO", "CPU") else {}


def _next_key(container: Any, parts: list[str], setting: str) -> tuple[str | int, list[str]]:
    """Return the key or index in ``container`` that the path begins with, and the rest of the path."""
    if isinstance(container, list):
        if not parts[0].isdigit() or int(parts[0]) >= len(container):
            raise ConfigError(f"--set {setting}: {parts[0]} is not an index of a list of {len(container)} items")
        return int(parts[0]), parts[1:]
    if not isinstance(container, dict):
        raise ConfigError(f"--set {setting}: {container!r} has no {parts[0]}")
    names = {str(key): key for key in container}
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        if name in names:
            return names[name], parts[length:]
    return parts[0], parts[1:]
