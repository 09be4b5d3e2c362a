"""The command ``ovc``: converts a model file to OpenVINO IR."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from hetero.properties.values import boolean
from hetero.run.command import one_line_errors
from hetero.system.errors import ConfigError

# An input: its name, and after it, each optional, its shape in brackets and its element type in braces.
_INPUT = re.compile(r"(?P<name>[^\[\]{}]*)(?:\[(?P<shape>[^\]]*)\])?(?:\{(?P<type>\w+)\})?")


def get_all_cli_parser(parser: argparse.ArgumentParser | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line, or add its options to a parser."""
    parser = parser or argparse.ArgumentParser("ovc", description="Convert a model file to OpenVINO IR.")
    parser.add_argument("input_model", metavar="INPUT_MODEL", nargs="+", help="a model file of any format")
    return get_common_cli_parser(parser)


def get_common_cli_parser(parser: argparse.ArgumentParser | None = None) -> argparse.ArgumentParser:
    """Return a parser with the options that do not depend on the model's format, or add them to a parser."""
    from hetero.runtime.version import get_version

    parser = parser or argparse.ArgumentParser("ovc")
    parser.add_argument("--output_model", help="the .xml file, or the folder for it; by default MODEL.xml")
    parser.add_argument(
        "--compress_to_fp16", type=boolean, nargs="?", const=True, default=True, metavar="BOOL",
        help="store weights as f16 (the default)",
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"ovc of hetero {get_version()}")
    parser.add_argument("--input", help="inputs with their shapes, such as ids[1,?],mask[1,1..128]{i32}")
    parser.add_argument("--output", help="the names of the outputs to keep, separated by commas")
    parser.add_argument("--extension", help="Python files of extensions, separated by commas")
    parser.add_argument("--verbose", action="store_true", help="log which operations the model has")
    parser.add_argument("--dynamo", action="store_true", help="has no effect: modules are not converted from files")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Convert a model file, and return the exit status."""
    given = get_all_cli_parser().parse_args(arguments)
    try:
        _convert(given)
    except typer.Exit as ended:
        return ended.exit_code
    return 0


def _convert(given: argparse.Namespace) -> None:
    with one_line_errors(False):
        from hetero.frontend.ir import save_model
        from hetero.runtime.convert import convert_model

        if len(given.input_model) > 1:
            raise ConfigError(f"ovc converts one model file at a time, not {len(given.input_model)}")
        source = given.input_model[0]
        file = _output_file(source, given.output_model)
        inputs = None if given.input is None else [parse_input(text) for text in _split(given.input)]
        extension = given.extension.split(",") if given.extension else None
        model = convert_model(source, inputs, given.output, extension=extension, verbose=given.verbose)
        save_model(model, file, given.compress_to_fp16)
    print(f"[ SUCCESS ] XML file: {file}")
    print(f"[ SUCCESS ] BIN file: {file.with_suffix('.bin')}")


def parse_input(text: str) -> tuple[Any, ...]:
    """Return an input such as ``ids[1,?]{i32}`` as convert_model takes it. Raises ConfigError."""
    from hetero.core.shape import PartialShape
    from hetero.core.types import Type

    match = _INPUT.fullmatch(text.strip())
    if match is None or not text.strip():
        raise ConfigError(f"'{text}' is no input: write its name, shape and element type as in ids[1,?]{{i32}}")
    parts: list[Any] = [match["name"]] if match["name"] else []
    if match["shape"] is not None:
        parts.append(PartialShape(f"[{match['shape']}]"))
    if match["type"]:
        parts.append(Type(match["type"]))
    return tuple(parts)


def _split(text: str) -> list[str]:
    """Split at commas outside of brackets."""
    return re.split(r",(?![^\[]*\])", text)


def _output_file(source: str, output: str | None) -> Path:
    name = Path(source).stem + ".xml"
    if output is None:
        return Path(name)
    if os.path.isdir(output) or output.endswith(os.sep):
        return Path(output) / name
    return Path(output if output.endswith(".xml") else f"{output}.xml")


if __name__ == "__main__":
    sys.exit(main())
