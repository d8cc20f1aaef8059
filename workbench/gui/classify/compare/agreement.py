"""Whether two answers to one picture agree, when class names may differ. Qt-free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.core.calibration.true_class import TrueClasses
from workbench.core.calibration.verdict import UNKNOWN
from workbench.core.format import share
from workbench.protocol.classify import Classified, Score


@dataclass(frozen=True)
class PairedScore:
    """A class and what both networks give it, 0..1; None where it is no class of theirs."""

    name: str
    first: float | None
    second: float | None


def paired(first: Sequence[Score], second: Sequence[Score]) -> list[PairedScore]:
    """All classes of both, by the larger of their probabilities, highest first; equal ones in the
    order of the first network. The case of a name does not matter, as for labels.
    """
    rest = {score.name: score.probability for score in second}
    names = TrueClasses(list(rest))
    rows = [
        PairedScore(score.name, score.probability, rest.pop(names.named(score.name), None))
        for score in first
    ]
    rows += [PairedScore(name, None, probability) for name, probability in rest.items()]
    return sorted(rows, key=lambda row: -max(row.first or 0.0, row.second or 0.0))


def agree(first: Classified, second: Classified) -> bool | None:
    """Whether both give the same answer, "unknown" being one; None where one could not be read."""
    if first.error is not None or second.error is not None:
        return None
    if first.unknown or second.unknown:
        return bool(first.unknown) and bool(second.unknown)
    names = TrueClasses([score.name for score in second.scores])
    return names.named(first.label) == second.label


def answer_words(answer: Classified) -> str:
    """An answer in one line."""
    if answer.error is not None:
        return "cannot be read"
    if answer.unknown:
        return UNKNOWN
    return f"{answer.label} {share(answer.scores[0].probability)}"
