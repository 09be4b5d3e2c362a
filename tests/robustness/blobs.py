"""Exported models: sections changed with a corrected checksum, and bytes changed without."""

from __future__ import annotations

import functools
from pathlib import Path
from random import Random

from hetero import Core
from hetero.plugin.blobs.blob import pack_blob, read_blob
from hetero.system.errors import BlobError
from tests.devices import PickyPlugin, core_with
from tests.dispatch.faulty import chain, no_exp
from tests.frontend.ir.samples import full_model
from tests.robustness.damage import WORDS, Files, change_bytes, on_file
from tests.robustness.running import infer_once
from tests.robustness.trees import change_json, change_tree, change_xml

# The device by file name.
NAMES = {"TEMPLATE.blob": "TEMPLATE", "HETERO.blob": "HETERO:A,TEMPLATE"}


def _core() -> Core:
    return core_with(A=PickyPlugin(no_exp))


@functools.cache
def samples() -> list[Files]:
    return [
        {name: _core().compile_model(model, device).export_model().getvalue()}
        for name, device in NAMES.items()
        for model in (chain(), full_model())
    ]


def run(folder: Path) -> None:
    for name, device in NAMES.items():
        if (folder / name).exists():
            infer_once(_core().import_model(folder / name, device))


def change_sections(content: bytes, rng: Random) -> bytes:
    """Change the options or a section, also in blobs of subgraphs, and correct the checksum."""
    try:
        blob = read_blob(content)
    except BlobError:  # made unreadable by an earlier change
        return content
    sections = {name: bytes(section) for name, section in blob.sections.items()}
    header = {"device": blob.device, "architecture": blob.architecture, "package": blob.package}
    options = blob.options
    chosen = rng.choice([*sections, *sections, "header", "options", "remove"])
    if chosen == "header":
        header[rng.choice(list(header))] = rng.choice([*WORDS, *header.values()])
    elif chosen == "options":
        change_tree(options, rng, is_typed=True)
    elif chosen == "remove":
        del sections[rng.choice(list(sections))]
    elif chosen.startswith("subgraph"):
        sections[chosen] = change_sections(sections[chosen], rng)
    elif chosen.endswith("xml") and rng.random() < 0.8:
        sections[chosen] = change_xml(sections[chosen], rng)
    elif chosen in ("ports", "plan") and rng.random() < 0.8:
        sections[chosen] = change_json(sections[chosen], rng)
    else:
        sections[chosen] = change_bytes(sections[chosen], rng)
    return b"".join(pack_blob(**header, options=options, sections=sections))


MUTATORS = {
    "sections": on_file(".blob", change_sections),
    "more sections": on_file(".blob", change_sections),
    "bytes": on_file(".blob"),
}
