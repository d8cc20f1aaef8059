"""What the test has shown: confusion matrix, classes, and which are taken for each other."""

from __future__ import annotations

import numpy as np

from workbench.core.evaluation.confusion import (
    Counts,
    Numbers,
    balanced_accuracy,
    most_confused,
    most_confused_classes,
)
from workbench.core.format import count, plural, share
from workbench.protocol.trained.evaluate import Evaluation
from workbench.report.blocks import Block, Figure, Section, Table, Text, plain_name, plain_text
from workbench.report.facts import Facts, SectionSpec
from workbench.report.figures.matrix import MOST_CELLS, matrix_drawing
from workbench.report.sections.summary import interval_words
from workbench.runs.log.texts import area_words, remark_words

_MOST_CLASSES = 500
_PAIRS = 10
_MOST_PIXELS = 2_000
"""Classes of a matrix that is drawn as a whole, three pixels of a screen for each."""


def section(facts: Facts) -> Section:
    """The scores of the saved weights on the test images."""
    result = facts.scored.result
    remark = remark_words(result) if result is not None else ""
    blocks: list[Block] = [Text(" ".join(filter(None, (_words(facts), remark))))]
    if result is None:
        blocks.append(Text(f"There is no confusion matrix. {_reason(facts)}", "missing"))
        return Section("Test", blocks)
    shown, matrix = _shown(result)
    of = "" if len(shown) == len(result.classes) else f", the {len(shown)} most confused classes"
    caption = (
        f"Confusion matrix of {plural(result.count, 'test image')}{of}. Rows are the true "
        "classes, columns the predicted ones; the stronger its color, the larger a cell's share of "
        "its row."
    )
    classes = plural(len(result.classes), "class", "classes")
    alt = f"Confusion matrix of {classes}. {_pair_words(result)}"
    names = [result.classes[number] for number in shown]
    drawing = matrix_drawing(matrix, names)
    blocks.append(Figure(drawing=drawing, caption=caption, alt=alt))
    if pairs := _pairs(result):
        columns = ["True class", "Predicted", "Images", "Of the class"]
        title = "Most confused classes"
        blocks.append(Table(title=title, columns=columns, rows=pairs, num_text=2))
    blocks.append(_classes(result))
    return Section("Test", blocks)


def _words(facts: Facts) -> str:
    test, interval = facts.test, interval_words(facts)
    if test is None or test.accuracy is None:
        return "The run has no test result."
    parts = [f"Test accuracy {share(test.accuracy)}"]
    if interval:
        parts.append(f"on {plural(test.count, 'image')}, 95% interval {interval} (Wilson)")
    words = [" ".join(parts)]
    if (result := facts.scored.result) is not None:
        balanced = balanced_accuracy(result.matrix)
        words.append(f"balanced accuracy {share(balanced)}")
        words += [f"top-{k} accuracy {share(part)}" for k, part in result.top_k_accuracy.items()]
    words += [f"{facts.loss_words} {test.loss:.4f}"] if test.loss is not None else []
    return f"{'; '.join(words)}."


def _reason(facts: Facts) -> str:
    if facts.scored.problem:
        return plain_text(facts.scored.problem)
    if facts.card is None:
        return "The run has no trained weights."
    return "The run's model was not evaluated on test images."


def _pairs(result: Evaluation) -> list[list[str]]:
    """The cells beside the diagonal with most images."""
    totals, names = result.matrix.actual_totals, result.classes
    return [
        [
            plain_name(names[pair.actual]),
            plain_name(names[pair.predicted]),
            count(pair.count),
            share(pair.count / int(totals[pair.actual])),
        ]
        for pair in most_confused(result.matrix, _PAIRS)
    ]


def _shown(result: Evaluation) -> tuple[Numbers, Counts]:
    """The classes of the matrix that is drawn, and their counts."""
    size = len(result.classes)
    is_few = size <= _MOST_PIXELS
    shown = np.arange(size) if is_few else most_confused_classes(result.matrix, MOST_CELLS)
    return shown, result.matrix.dense(shown)


def _pair_words(result: Evaluation) -> str:
    pairs = _pairs(result)
    if not pairs:
        return "All images are on the diagonal."
    actual, predicted, images, _ = pairs[0]
    return f"Most often confused: {actual} predicted as {predicted}, {images} times."


def _classes(result: Evaluation) -> Table:
    """The classes and their means. Where there are many the means come first, as a page may show
    some rows alone, then the lowest F1.
    """
    scores, title = result.per_class, "Classes"
    is_many = len(scores) > 20
    if is_many:
        scores = sorted(scores, key=lambda score: (score.f1, score.name))
        title = "Classes, lowest F1 first"
    if len(scores) > _MOST_CLASSES:
        title += f": {_MOST_CLASSES:,} of {len(scores):,}"
    rows = [
        [
            plain_name(score.name),
            share(score.precision),
            share(score.recall),
            f"{score.f1:.3f}",
            area_words(score.roc_auc),
            count(score.count),
        ]
        for score in scores[:_MOST_CLASSES]
    ]
    rows.insert(0 if is_many else len(rows), _means(result))
    columns = ["Class", "Precision", "Recall", "F1", "ROC AUC", "Images"]
    return Table(title=title, columns=columns, rows=rows)


def _means(result: Evaluation) -> list[str]:
    """The last row of the classes: means over those that have images."""
    seen = [score for score in result.per_class if score.count]
    precision, recall, f1 = (
        sum(getattr(each, name) for each in seen) / max(1, len(seen))
        for name in ("precision", "recall", "f1")
    )
    area = result.roc_auc.macro if result.roc_auc is not None else None
    title = f"Mean of {plural(len(seen), 'class', 'classes')}"
    figures = (share(precision), share(recall), f"{f1:.3f}", area_words(area))
    return [title, *figures, count(result.count)]


SPEC = SectionSpec(key="scores", order=40, make=section)
