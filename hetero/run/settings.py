"""``--set key=value``: changes to a YAML run from the command line."""

from __future__ import annotations

from typing import Any

from hetero.errors import ConfigError
from hetero.run.plain_yaml import parse_yaml


class CommandLineText(str):
    """A string from the command line: a path in it is seen from the current folder."""


def apply_setting(data: dict[str, Any], setting: str) -> None:
    """Change a run by ``a.b.0=value``: keys of mappings and indices of lists, and a value in YAML. Raises ConfigError.

    Keys may hold dots where the run has them already.
    """
    path, equals, text = setting.partition("=")
    if not equals or not path:
        raise ConfigError(f"--set {setting} is not of the form key=value")
    try:
        value = _mark(parse_yaml(text))
    except ValueError:
        raise ConfigError(f"--set {setting}: the value is not valid YAML; put it in quotes") from None
    place: Any = data
    parts = path.split(".")
    while True:
        key, parts = _next_key(place, parts, setting)
        if not parts:
            break
        if isinstance(place, dict) and not isinstance(place.get(key), (dict, list)):
            place[key] = {}
        place = place[key]
    place[key] = value


def _next_key(place: Any, parts: list[str], setting: str) -> tuple[str | int, list[str]]:
    """The key at which to go on in ``place``, and the parts of the path that are left."""
    if isinstance(place, list):
        if not parts[0].isdigit() or int(parts[0]) >= len(place):
            raise ConfigError(f"--set {setting}: {parts[0]} is not an index below {len(place)}, the length of the list")
        return int(parts[0]), parts[1:]
    if not isinstance(place, dict):
        raise ConfigError(f"--set {setting}: {place!r} has no {parts[0]}")
    names = {str(key): key for key in place}
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        if name in names:
            return names[name], parts[length:]
    return parts[0], parts[1:]


def _mark(value: Any) -> Any:
    if isinstance(value, str):
        return CommandLineText(value)
    if isinstance(value, list):
        return [_mark(item) for item in value]
    if isinstance(value, dict):
        return {key: _mark(item) for key, item in value.items()}
    return value
