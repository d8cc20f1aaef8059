"""All figures of an evaluation against scikit-learn and scipy, on random cases with ties.

`python -m tests.proofs.figures [--cases 50]` draws answers of models for images: few and many, one
image, one class, classes without images, equal and constant scores, probabilities in float32. It
computes each figure as the product does and by scikit-learn, scipy or by hand, and prints the
largest difference of each. It ends with 1 where one is beyond 1e-9.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats
from sklearn import metrics

from workbench.core.evaluation.confusion import balanced_accuracy, cohen_kappa
from workbench.core.evaluation.significance import (
    chi_square_mcnemar,
    exact_mcnemar,
    unpaired_test,
    wilson_interval,
)
from workbench.inference.runner import Answers, joined_results, results_of
from workbench.protocol.trained.evaluate import Evaluation
from workbench.runs.model_card import ModelCard
from workbench.worker.saved_models.evaluation import evaluation_of

CASES = 50
TOLERANCE = 1e-9
_BINS = 15


@dataclass(frozen=True)
class Case:
    """Probabilities float32 (n, classes), labels (n,), and predictions of another model (n,)."""

    number: int
    rows: np.ndarray
    truth: np.ndarray
    other: np.ndarray


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES)
    count = parser.parse_args(arguments).cases
    largest: dict[str, tuple[float, int]] = {}
    problems = []
    for number in range(count):
        case = drawn_case(number)
        problems += problems_of(case)
        for name, ours, theirs in compared(case):
            worst, compared_so_far = largest.get(name, (0.0, 0))
            largest[name] = max(worst, _gap(ours, theirs)), compared_so_far + 1
    print(f"{'figure':32} {'compared':>9} {'largest difference':>19}")
    for name, (worst, number) in largest.items():
        print(f"{name:32} {number:9,} {worst:19.2e}")
    for problem in problems:
        print(f"DIFFERS: {problem}")
    total = sum(number for _, number in largest.values())
    print(f"figures: {count} cases, {total:,} figures, {len(problems)} differ by more than 1e-9")
    return int(bool(problems))


def drawn_case(number: int) -> Case:
    """A case by its number; the first ones are the odd ones."""
    random = np.random.default_rng(1_000 + number)
    count, classes = int(random.integers(2, 400)), int(random.integers(2, 13))
    if number == 0:
        count = 1
    if number in {3, 4}:
        classes = 2
    rows = random.dirichlet(np.full(classes, random.choice([0.05, 0.5, 3])), count)
    truth = random.integers(0, classes, count)
    if number in {1, 2}:  # one class alone; one class alone among two
        truth[:] = number - 1
    if number in {5, 6}:
        rows[:] = 1 / classes
    if number in {7, 8, 9}:  # classes without images
        truth = truth % max(2, classes // 2)
    if number % 5 == 0:
        rows = rows.round(1)
    is_guided = random.random(count) < 0.6
    rows[is_guided, truth[is_guided]] += 1
    rows = np.maximum(rows, 0) + 1e-12
    rows = (rows / rows.sum(axis=1, keepdims=True)).astype(np.float32)
    other = np.where(random.random(count) < 0.7, truth, random.integers(0, classes, count))
    return Case(number, rows, truth, other)


def problems_of(case: Case) -> list[str]:
    """The figures of a case that are not those of the others."""
    return [
        f"case {case.number}, {name}: {ours!r} and {theirs!r}"
        for name, ours, theirs in compared(case)
        if _gap(ours, theirs) > TOLERANCE
    ]


def _gap(ours: float | None, theirs: float | None) -> float:
    if ours is None or theirs is None:
        return 0.0 if ours is theirs else np.inf
    return abs(ours - theirs)


def evaluated(case: Case) -> Evaluation:
    """The evaluation as a worker makes it."""
    names = [f"class {number}" for number in range(case.rows.shape[1])]
    card = ModelCard(class_names=names, input_shape=[1, 1, 1], fit="crop", graph={})
    losses = -np.log(case.rows[np.arange(len(case.truth)), case.truth])
    found = results_of(Answers(case.rows, case.rows, None, losses), case.truth)
    results = joined_results([found], case.rows)
    return evaluation_of(card, case.truth, results, top=[1, 2, 4])


def compared(case: Case) -> Iterator[tuple[str, float | None, float | None]]:
    """Name, our value and theirs of each figure."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from _of_predictions(case)
        yield from _of_probabilities(case)
        yield from _of_areas(case)
        yield from _of_pairs(case)


def _of_predictions(case: Case) -> Iterator[tuple[str, float | None, float | None]]:
    result, truth = evaluated(case), case.truth
    predicted, labels = case.rows.argmax(axis=1), range(case.rows.shape[1])
    yield "accuracy", result.accuracy, metrics.accuracy_score(truth, predicted)
    own = metrics.balanced_accuracy_score(truth, predicted)
    yield "balanced accuracy", balanced_accuracy(result.matrix), own
    kappa = metrics.cohen_kappa_score(truth, predicted, labels=[*labels])
    yield "Cohen's kappa", cohen_kappa(result.matrix), None if np.isnan(kappa) else kappa
    matrix = metrics.confusion_matrix(truth, predicted, labels=[*labels])
    yield "confusion matrix", 0.0, float(np.abs(result.matrix.dense() - matrix).max())
    columns = metrics.precision_recall_fscore_support(
        truth, predicted, labels=[*labels], zero_division=0
    )
    for score, *theirs in zip(result.per_class, *columns, strict=True):
        ours = (score.precision, score.recall, score.f1, score.count)
        for name, mine, other in zip(("precision", "recall", "F1", "support"), ours, theirs,
                                     strict=True):  # fmt: skip
            yield name, mine, float(other)


def _of_probabilities(case: Case) -> Iterator[tuple[str, float | None, float | None]]:
    rows, truth, result = case.rows, case.truth, evaluated(case)
    labels = [*range(rows.shape[1])]
    exact = rows.astype(np.float64)
    own = np.maximum(exact[np.arange(len(truth)), truth], 1e-38)
    ours = result.negative_log_likelihood
    yield "negative log-likelihood", ours, float(-np.log(own).mean())
    if own.min() > 1e-15:  # below, the library cuts probabilities off
        yield "log loss", ours, metrics.log_loss(truth, exact, labels=labels)
    for k, ours in result.top_k_accuracy.items():
        # Equal scores: the library prefers the last class, a prediction is the first one.
        turned = rows[:, ::-1]
        theirs = metrics.top_k_accuracy_score(
            len(labels) - 1 - truth, turned[:, 1] if len(labels) == 2 else turned, k=k,
            labels=labels,
        ) if len(labels) > 2 else None  # fmt: skip
        if theirs is not None:
            yield f"top-{k} accuracy", ours, theirs
    if result.calibration is not None:
        after = result.calibration.expected_calibration_error
        yield "expected calibration error", after, _calibration_error(rows, truth)


def _calibration_error(rows: np.ndarray, truth: np.ndarray) -> float:
    """By its definition (Naeini 2015), in plain Python: bins (low, high], 15 of equal width."""
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(_BINS)]
    for row, label in zip(rows.tolist(), truth.tolist(), strict=True):
        confidence = max(row)
        place = next(n for n in range(_BINS) if confidence <= (n + 1) / _BINS or n == _BINS - 1)
        bins[place].append((confidence, row.index(confidence) == label))
    gaps = [
        abs(sum(c for c, _ in each) / len(each) - sum(r for _, r in each) / len(each)) * len(each)
        for each in bins
        if each
    ]
    return sum(gaps) / len(truth)


def _of_areas(case: Case) -> Iterator[tuple[str, float | None, float | None]]:
    result, classes = evaluated(case), case.rows.shape[1]
    one_hot = np.eye(classes, dtype=int)[case.truth]
    rocs, precisions = [], []
    for number, score in enumerate(result.per_class):
        own, scores = one_hot[:, number], case.rows[:, number]
        roc = metrics.roc_auc_score(own, scores) if 0 < own.sum() < len(own) else None
        precision = metrics.average_precision_score(own, scores) if own.any() else None
        yield "ROC AUC of a class", score.roc_auc, roc
        yield "average precision of a class", score.average_precision, precision
        rocs += [] if roc is None else [roc]
        precisions += [] if precision is None else [precision]
    yield "ROC AUC, macro", result.roc_auc.macro, float(np.mean(rocs)) if rocs else None
    yield "average precision, macro", result.average_precision.macro, float(np.mean(precisions))
    flat = one_hot.ravel(), case.rows.ravel()
    yield "ROC AUC, micro", result.roc_auc.micro, metrics.roc_auc_score(*flat)
    yield (
        "average precision, micro",
        result.average_precision.micro,
        (metrics.average_precision_score(*flat)),
    )


def _of_pairs(case: Case) -> Iterator[tuple[str, float | None, float | None]]:
    is_right, other = case.rows.argmax(axis=1) == case.truth, case.other == case.truth
    gained, lost = int((other & ~is_right).sum()), int((is_right & ~other).sum())
    count, right = len(case.truth), int(is_right.sum())
    exact = stats.binomtest(gained, gained + lost, 0.5).pvalue if gained + lost else 1.0
    yield "McNemar, exact", exact_mcnemar(gained, lost), float(exact)
    if gained != lost:
        statistic = (abs(gained - lost) - 1) ** 2 / (gained + lost)
        yield "McNemar, chi-square", chi_square_mcnemar(gained, lost), stats.chi2.sf(statistic, 1)
    interval = stats.binomtest(right, count).proportion_ci(0.95, method="wilson")
    low, high = wilson_interval(right, count)
    yield "Wilson interval", low, interval.low
    yield "Wilson interval", high, interval.high
    numbers = right, int(other.sum())
    if 0 < sum(numbers) < 2 * count:
        table = np.array([numbers, [count - number for number in numbers]])
        theirs = stats.chi2_contingency(table, correction=False).pvalue
        yield "two proportions", unpaired_test(numbers, (count, count)).p_value, float(theirs)


if __name__ == "__main__":
    sys.exit(main())
