"""Writer of the pages about operations: one for each name, with all versions. docs/conf.py runs it for `make docs`.

``python docs/operation_pages.py FOLDER`` writes them without Sphinx.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

from hetero import Op, ops
from hetero.ops.opsets import extension_classes, operation_classes, opset_of, snake_case


def classes_by_name() -> dict[str, list[type[Op]]]:
    """Return the classes of each operation by its name, the newest version first."""
    classes = defaultdict(list)
    for cls in sorted(dict.fromkeys(operation_classes()), key=opset_of, reverse=True):
        classes[cls.type_info.name].append(cls)
    for name, cls in extension_classes().items():
        classes[name].append(cls)
    return dict(sorted(classes.items()))


def page_of(name: str, versions: list[type[Op]]) -> str:
    """Return the page of an operation in Markdown. The docstrings of operations are Markdown as they are."""
    parts = [f"# {name}"]
    for cls in versions:
        version = cls.type_info.version_id
        in_opset = version.startswith("opset")
        parts.append(f"## {name}-{opset_of(cls)}" if in_opset else f"## {name}, an operation of hetero")
        parts.append(f"```python\n{_call(cls, f'{version}.{snake_case(name)}' if in_opset else '')}\n```")
        parts.append(cls.__doc__ or "")
        parts.append(f"Defined in `{cls.__module__}`; outputs: {cls.output_size or 'by its bodies or inputs'}.")
    return "\n\n".join(parts) + "\n"


def _call(cls: type[Op], factory: str) -> str:
    """Return the calls that create a node: of the factory and of the class."""
    public = f"ops.{cls.__name__}" if hasattr(ops, cls.__name__) else cls.__name__
    return "\n".join(f"{function}{cls.signature()}" for function in (factory, public) if function)


def write_pages(folder: Path) -> list[Path]:
    """Write the pages of all operations to a folder, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {folder / f"{name}.md": page_of(name, versions) for name, versions in classes_by_name().items()}
    for path, text in pages.items():
        path.write_text(text, encoding="utf-8")
    return list(pages)


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
