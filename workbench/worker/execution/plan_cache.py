"""What was measured, kept for the next run of the same network on the same machine.

One small file for each network. It is a cache: lost or damaged, the ways are measured again.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from workbench.core.projects.project import Project
from workbench.core.projects.project_file import graph_to_plain
from workbench.core.storage.foreign_file import SMALL_BYTES, read_foreign
from workbench.core.storage.own_file import refuse_link
from workbench.core.storage.save import save_with_folder
from workbench.errors import SaveError
from workbench.runs.home import cache_home
from workbench.targets.this_computer import computes_bfloat16, cpu_flags, cpu_model, num_cores
from workbench.worker.execution.autotune import SearchResult, budget_s, expected_s
from workbench.worker.process.versions import versions
from workbench.worker.step.variants import Timing, Variant

_MOST_FILES = 500

_CLEARLY_MORE = 1.5
"""A way that was too long to measure is tried again when so many times the seconds are there."""

_COUNTING = (
    "optimizer",
    "loss",
    "clip_norm",
    "ema_decay",
    "mixing",
    "weight_decay",
    "threads",
    "sync_batch_norm",
)
"""What of a recipe changes the time of a step; the batch size is a part of the key of its own."""


@dataclass(frozen=True)
class Known:
    """What is known of the ways to run one network here: those measured, and those skipped, with
    the budget in seconds that was too small for them.
    """

    timings: Mapping[Variant, Timing] = field(default_factory=dict)
    skipped: Mapping[Variant, float] = field(default_factory=dict)

    def to_measure(self, variants: Sequence[Variant], steps: int) -> tuple[Variant, ...]:
        """Variants that a run of so many steps should race against the first of them: all where the
        first is not known, else those never tried, or tried with clearly less time, as far as last
        time's answer says that there is time for them: a race of the first alone would take seconds
        and decide nothing.
        """
        first = self.timings.get(variants[0])
        if first is None:
            return tuple(variants[1:])
        today_s = budget_s(steps, first.step_s)
        left_s = today_s - 2 * first.step_s  # it takes part itself
        return tuple(
            variant
            for variant in variants[1:]
            if variant not in self.timings
            and today_s > _CLEARLY_MORE * self.skipped.get(variant, 0.0)
            and left_s >= expected_s(variant, first.start_s, first.step_s)
        )

    def with_search(self, result: SearchResult) -> Known:
        """Together with what was measured now.

        Earlier timings are brought to the pace of today, by the variants measured
        both times: the computer may have been busier then.
        """
        both = [variant for variant in result.timings if variant in self.timings]
        pace = 1.0
        if both:
            pace = result.timings[both[0]].step_s / max(self.timings[both[0]].step_s, 1e-9)
        earlier = {
            variant: Timing(t.step_s * pace, t.start_s) for variant, t in self.timings.items()
        }
        timings = {**earlier, **result.timings}
        skipped = {**self.skipped, **result.skipped}
        return Known(
            timings, {variant: s for variant, s in skipped.items() if variant not in timings}
        )


class _Measured(msgspec.Struct, frozen=True):
    precision: str
    xla: bool
    step_s: float
    start_s: float


class _Skipped(msgspec.Struct, frozen=True):
    precision: str
    xla: bool
    left_s: float


class Likeness(msgspec.Struct, frozen=True):
    """Features by which a similar network that was benchmarked is found.

    Attributes:
        group: A name for what similar ones have in common: the computer, the versions, and the
            kinds of layers that compute most.
        work: Multiply-adds of a step, forward alone.
    """

    group: str
    work: float


class _File(msgspec.Struct, frozen=True):
    measured: list[_Measured]
    skipped: list[_Skipped]
    likeness: Likeness | None = None


_decoder = msgspec.json.Decoder(_File)


def plan_key(project: Project, batch_size: int) -> str:
    """A name for everything that the time of a step depends on: graph, batch, recipe, machine,
    versions.
    """
    return name_of(
        {
            "graph": graph_to_plain(project.graph),
            "batch_size": batch_size,
            "recipe": {key: getattr(project.recipe, key) for key in _COUNTING},
            **circumstances(project),
        }
    )


def circumstances(project: Project) -> dict[str, Any]:
    """What the time of a step depends on beside network and recipe: machine and versions."""
    return {
        "target": [project.target.key, dict(project.target.params)],
        "machine": [platform.machine(), cpu_model(), num_cores(), sorted(cpu_flags())],
        "bfloat16": computes_bfloat16(),
        "versions": versions(),
    }


def name_of(values: Mapping[str, Any]) -> str:
    """A short name for some values, the same for equal ones alone."""
    return hashlib.sha256(msgspec.json.encode(values, order="sorted")).hexdigest()[:32]


def read_known(key: str, home: Path | None = None) -> Known:
    """What was measured; nothing where nothing was, or nothing that can be read."""
    return _read((home or cache_home() / "plans") / f"{key}.json")[0]


def read_all_known(group: str, home: Path | None = None) -> list[tuple[float, Known]]:
    """What was measured on the networks of a group of similar ones, with the work of each."""
    found = map(_read, sorted((home or cache_home() / "plans").glob("*.json")))
    return [(alike.work, known) for known, alike in found if alike and alike.group == group]


def _read(path: Path) -> tuple[Known, Likeness | None]:
    try:
        file = _decoder.decode(read_foreign(path, SMALL_BYTES))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Known(), None
    known = Known(
        {Variant(row.precision, row.xla): Timing(row.step_s, row.start_s) for row in file.measured},
        {Variant(row.precision, row.xla): row.left_s for row in file.skipped},
    )
    return known, file.likeness


def keep_known(
    key: str, known: Known, home: Path | None = None, *, likeness: Likeness | None = None
) -> None:
    """Keeps measurements in place of those of the same key; drops the oldest files.

    A full disk is no reason to stop a training: then nothing is kept.
    """
    home = home or cache_home() / "plans"
    file = _File(
        [_Measured(w.precision, w.xla, t.step_s, t.start_s) for w, t in known.timings.items()],
        [_Skipped(variant.precision, variant.xla, s) for variant, s in known.skipped.items()],
        likeness,
    )
    try:
        refuse_link(home)
        save_with_folder(home / f"{key}.json", msgspec.json.encode(file))
        _forget_oldest(home)
    except (OSError, SaveError):
        return


def _forget_oldest(home: Path) -> None:
    files = sorted(home.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in files[_MOST_FILES:]:
        path.unlink(missing_ok=True)
