"""Reports for people: what is cut short."""

import io

from rich.console import Console

from hetero.run.display import _show_placement
from hetero.run.runner import Placement, Reason


def test_of_many_reasons_the_most_frequent_are_shown():
    reasons = [Reason("B", f"reason {index}!", {"Tanh": 1 + (index == 24)}) for index in range(25)]
    console = Console(file=io.StringIO(), width=120)
    _show_placement(console, Placement("a summary", {"B": 26}, [], reasons))
    text = console.file.getvalue()
    assert [index for index in range(25) if f"reason {index}!" in text] == [*range(19), 24]
    assert text.index("reason 24!") < text.index("reason 0!")
    assert "5 more reasons: see PLACEMENT_REPORT" in text
