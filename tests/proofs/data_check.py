"""Real and planted flaws of a data set: what the data check finds and invents.

`python -m tests.proofs.data_check [--each 50] [--seeds 1]` needs the photos of
../shared/data/flowers. It prints a table, and ends with 1 where something is missed or invented.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.planted_images import KINDS, outcome, plant
from workbench.cli._data import Checked, checked
from workbench.core.projects.project import Project
from workbench.core.projects.texts import parse_source
from workbench.datasets import all_datasets

FLOWERS = Path(__file__).resolve().parents[3] / "shared" / "data" / "flowers"

CLEAN = 200

TWO_LABELS = ("roses/15922772266_1167a06620.jpg", "tulips/15922772266_1167a06620.jpg")
SAME = (
    ("sunflowers/14889392928_9742aed45b_m.jpg", "sunflowers/15066430311_fb57fa92b0_m.jpg"),
    ("sunflowers/15069459615_7e0fd61914_n.jpg", "sunflowers/15072973261_73e2912ef2_n.jpg"),
)
"""What the README beside the photos names."""

_COPIES = frozenset({"duplicate", "near_duplicate", "leak"})


def main(words: list[str] | None = None) -> int:
    """Runs all parts; 1 where one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=50, help="planted flaws of each kind")
    parser.add_argument("--seeds", type=int, default=1, help="repetitions with other photos")
    arguments = parser.parse_args(words)
    if not FLOWERS.is_dir():
        print(f"{FLOWERS} is not there.")
        return 2
    lines = [
        *_known(),
        *_planted(arguments.each, arguments.seeds),
    ]
    for is_good, text in lines:
        print(f"{'ok  ' if is_good else 'FAIL'} {text}")
    return 0 if all(is_good for is_good, _ in lines) else 1


def check_folder(folder: Path) -> Checked:
    """The data check of a folder of class folders, through a real service worker."""
    source = parse_source(f"folder:{folder}", all_datasets())
    return checked(Project(dataset=source), labels=False, is_quiet=True)[1]


def _known() -> Iterator[tuple[bool, str]]:
    """The flaws of the flower photos that are known."""
    found = check_folder(FLOWERS)
    pairs = {
        frozenset(str(Path(image.file).relative_to(FLOWERS)) for image in finding.images)
        for finding in found.findings
        if finding.rule in _COPIES
    }
    for pair in (TWO_LABELS, *SAME):
        yield frozenset(pair) in pairs, f"flowers: {pair[0]} = {pair[1]}"
    speed = found.report.num_images / found.report.seconds
    yield True, f"flowers: {len(pairs)} pairs in all; {speed:,.0f} images/s"


def _planted(each: int, seeds: int) -> Iterator[tuple[bool, str]]:
    for seed in range(1, seeds + 1):
        with tempfile.TemporaryDirectory() as folder:
            planted = plant(FLOWERS, Path(folder), each=each, clean=CLEAN, seed=seed)
            result = outcome(planted, check_folder(Path(folder)).findings)
        for kind in KINDS:
            number = result.found[kind]
            yield number == each, f"seed {seed}: {kind}: {number} of {each} found"
        for group in result.missed:
            yield False, f"seed {seed}: missed {', '.join(sorted(group))}"
        invented = len(result.invented)
        yield not invented, f"seed {seed}: {invented} invented among {CLEAN} clean photos"
        for finding in result.invented:
            files = ", ".join(image.file for image in finding.images[:4])
            yield False, f"seed {seed}: invented {finding.rule}: {files}"


if __name__ == "__main__":
    sys.exit(main())
