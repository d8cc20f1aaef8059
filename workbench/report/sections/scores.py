"""What the test has shown: confusion matrix, classes, and which are taken for each other."""

from __future__ import annotations

import numpy as np

from workbench.core.confusion import balanced_accuracy
from workbench.core.format import count, plural, share
from workbench.protocol.trained.evaluate import Evaluation
from workbench.report.blocks import Block, Figure, Section, Table, Text, plain_name, plain_text
from workbench.report.facts import Facts
from workbench.report.figures.matrix import matrix_drawing
from workbench.report.sections.summary import interval_words
from workbench.runs.log.scores import remark_words

_MOST_CLASSES = 2_000
_PAIRS = 10


def section(facts: Facts) -> Section:
    """The scores of the saved weights on the test images."""
    result = facts.scored.result
    remark = remark_words(result) if result is not None else ""
    blocks: list[Block] = [Text(" ".join(filter(None, (_words(facts), remark))))]
    if result is None:
        blocks.append(Text(f"There is no confusion matrix. {_reason(facts)}", "missing"))
        return Section("Test", blocks)
    total = sum(map(sum, result.confusion))
    caption = (
        f"Confusion matrix of {plural(total, 'test image')}. Rows are the true classes, columns "
        "the predicted ones; the stronger its color, the larger a cell's share of its row."
    )
    classes = plural(len(result.classes), "class", "classes")
    alt = f"Confusion matrix of {classes}. {_pair_words(result)}"
    drawing = matrix_drawing(result.confusion, result.classes)
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
        balanced = balanced_accuracy(np.array(result.confusion, np.int64))
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
    cells = [
        (number, row, column)
        for row, cells in enumerate(result.confusion)
        for column, number in enumerate(cells)
        if number and row != column
    ]
    cells.sort(key=lambda cell: (-cell[0], cell[1:]))
    names = [plain_name(name) for name in result.classes]
    return [
        [names[row], names[column], count(number), share(number / sum(result.confusion[row]))]
        for number, row, column in cells[:_PAIRS]
    ]


def _pair_words(result: Evaluation) -> str:
    pairs = _pairs(result)
    if not pairs:
        return "All images are on the diagonal."
    actual, predicted, images, _ = pairs[0]
    return f"Most often confused: {actual} predicted as {predicted}, {images} times."


def _classes(result: Evaluation) -> Table:
    """The classes, with the lowest F1 first where there are many."""
    scores = result.per_class
    title = "Classes"
    if len(scores) > 20:
        scores = sorted(scores, key=lambda score: (score.f1, score.name))
        title = "Classes, lowest F1 first"
    rows = [
        [
            plain_name(score.name),
            share(score.precision),
            share(score.recall),
            f"{score.f1:.3f}",
            count(score.count),
        ]
        for score in scores[:_MOST_CLASSES]
    ]
    columns = ["Class", "Precision", "Recall", "F1", "Images"]
    return Table(title=title, columns=columns, rows=rows)
