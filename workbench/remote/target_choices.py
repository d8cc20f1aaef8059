"""The places to train on that can be chosen: what is here, what the environment names, what was
connected before, and the project's own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from workbench.core.params import check_all
from workbench.core.projects.project import Choice
from workbench.core.projects.target_text import target_text
from workbench.core.registry import Registry
from workbench.core.specs import TargetSpec
from workbench.remote.ssh.saved_hosts import label_of, saved_choices

Named = tuple[Choice, str]
"""A place, with what its label does not show; "" for nothing."""

Saved = Callable[[], Sequence[Named]]
"""Gives places that were connected before."""


def target_choices(
    targets: Registry[TargetSpec], current: Choice, saved: Saved = saved_choices
) -> list[list[Named]]:
    """The places in groups; each place once, empty groups left out."""
    groups: list[list[Named]] = []
    shown: set[str] = set()
    for named in (_offered(targets), _found(targets), saved(), _own(targets, current)):
        fresh = []
        for choice, words in named:
            text = target_text(choice, targets)
            if text not in shown:
                shown.add(text)
                fresh.append((choice, words))
        groups.append(fresh)
    return [group for group in groups if group]


def choice_line(choice: Choice, words: str) -> str:
    """A place in one line: its label, and `words` where these do not begin with it."""
    label = label_of(choice)
    return words if words.startswith(label) else f"{label} · {words}" if words else label


def _offered(targets: Registry[TargetSpec]) -> Iterable[Named]:
    for spec in targets.values():
        for params in spec.presets if spec.is_offered() else ():
            checked = check_all(spec.params, params)[0]
            yield Choice(spec.key, checked), spec.describe(checked)


def _found(targets: Registry[TargetSpec]) -> Iterable[Named]:
    for spec in targets.values():
        for params, why in spec.found(os.environ):
            yield Choice(spec.key, check_all(spec.params, params)[0]), why


def _own(targets: Registry[TargetSpec], current: Choice) -> Iterable[Named]:
    """The project's own place, where nothing above is it."""
    spec = targets.get(current.key)
    if spec is not None:
        params = check_all(spec.params, current.params)[0]
        yield Choice(spec.key, params), spec.describe(params)
