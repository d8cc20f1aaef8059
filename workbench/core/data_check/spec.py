"""What a rule of the data check declares."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from workbench.core.data_check.findings import Finding
from workbench.core.data_check.survey import Survey


@dataclass(frozen=True, kw_only=True)
class DataCheckSpec:
    """One rule.

    Attributes:
        key: File name, and the `kind` of its findings in JSON, e.g. "near_duplicate".
        title: Heading of its findings, in the plural.
        order: Place among the rules: the worst first.
        needs_features: It compares features of a backbone, which take most of the time.
        find: Survey -> what the rule finds, the worst first. Called by a worker only.
        notes: Survey -> sentences about what was looked at, and what could not be.
    """

    key: str
    title: str
    order: int
    needs_features: bool = False
    find: Callable[[Survey], Iterable[Finding]]
    notes: Callable[[Survey], Iterable[str]] = lambda _survey: ()
