"""The command ``python -m tests.robustness``: the campaign and the soak, with counts at the end.

Exits with 1 if anything failed. Each failing input is kept in a folder; ``--replay FOLDER`` runs it again.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from tests.robustness.campaign import Campaign, replay
from tests.robustness.soak import TOLERANCE, Soak


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.robustness", description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000, help="damaged files")
    parser.add_argument("--seconds", type=float, default=600, help="of the soak; 0 for none")
    parser.add_argument("--seed", type=int, default=0, help="of the campaign")
    parser.add_argument("--workers", type=int, default=2, help="processes that run cases")
    parser.add_argument("--keep", type=Path, default=Path("build/robustness"), help="folder for failing inputs")
    parser.add_argument("--replay", type=Path, metavar="FOLDER", help="run one failing input again, and nothing else")
    arguments = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 140, highlight=False)
    if arguments.replay:
        return int(replay(arguments.replay, console))
    logging.getLogger("hetero").setLevel(logging.ERROR)  # no placement reports between progress bars
    failed = False
    if arguments.cases:
        failed |= _run_campaign(arguments, console)
    if arguments.seconds:
        failed |= _run_soak(arguments.seconds, console)
    return int(failed)


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), refresh_per_second=2)


def _run_campaign(arguments: argparse.Namespace, console: Console) -> bool:
    campaign, started = Campaign(arguments.cases, arguments.seed, arguments.keep), time.monotonic()
    try:
        with _progress() as progress:
            task = progress.add_task("damaged files and concurrent work", total=sum(campaign.planned.values()))
            campaign.run(arguments.workers, lambda done: progress.update(task, completed=done))
    finally:
        console.print(campaign.table())
    seconds = time.monotonic() - started
    done = sum(counts.total() for counts in campaign.counts.values())
    console.print(f"{done} cases in {seconds:.0f} s, {done / seconds:.1f} a second, seed {arguments.seed}")
    for folder in campaign.kept:
        console.print(f"failed: python -m tests.robustness --replay {folder}", markup=False, soft_wrap=True)
    return campaign.failed


def _run_soak(seconds: float, console: Console) -> bool:
    soak = Soak(seconds)
    with _progress() as progress:
        task = progress.add_task("soak: seconds", total=int(seconds))
        soak.run(lambda elapsed: progress.update(task, completed=int(elapsed)))
    console.print(soak.table())
    grown = f"{soak.growth:+.2%} from the second minute to the last, at most {TOLERANCE:+.0%} allowed"
    console.print(f"soak of {seconds:.0f} s: {soak.error or f'memory {grown}'}", markup=False)
    return soak.failed


if __name__ == "__main__":
    sys.exit(main())
