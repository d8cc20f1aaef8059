"""Counts how the answers compare with the true classes, while they come."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.core.calibration.true_class import TrueClasses
from workbench.core.confusion import Confusion
from workbench.inference.class_scores import class_scores
from workbench.protocol.classify import Classified
from workbench.protocol.classify_many import Agreement


class AgreementCounter:
    """Counts by class; see `TrueClasses`.

    Attributes:
        classes: Those of the model.
    """

    def __init__(self, class_names: Sequence[str]) -> None:
        self.classes = TrueClasses(class_names)
        self._names = class_names
        self._numbers = {name: number for number, name in enumerate(class_names)}
        self._cells: list[tuple[int, int]] = []
        self._num_foreign = self._num_unlabeled = self._num_unknown = 0

    def add(self, answer: Classified) -> None:
        """Counts an answer; an image that could not be read counts nowhere."""
        if answer.error is not None:
            return
        truth = self.classes.named(answer.truth)
        if not answer.truth:
            self._num_unlabeled += 1
        elif not truth:
            self._num_foreign += 1
        elif answer.unknown:
            self._num_unknown += 1
        else:
            self._cells.append((self._numbers[truth], self._numbers[answer.label]))

    def result(self) -> Agreement:
        """What was counted."""
        cells = np.array(self._cells, np.int64).reshape(-1, 2)
        confusion = Confusion.of_images(cells[:, 0], cells[:, 1], len(self._names))
        num_right, num_all = int(confusion.right.sum()), confusion.total
        return Agreement(
            num_right=num_right,
            num_wrong=num_all - num_right,
            num_foreign=self._num_foreign,
            num_unlabeled=self._num_unlabeled,
            num_unknown=self._num_unknown,
            accuracy=num_right / num_all if num_all else None,
            per_class=class_scores(confusion, self._names),
        )
