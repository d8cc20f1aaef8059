"""The model card, in the sections of Mitchell et al., Model Cards for Model Reporting (2019)."""

from __future__ import annotations

from workbench.core.calibration import FAR, KEPT_SHARE
from workbench.core.format import share
from workbench.protocol.trained.calibration import Calibration, calibration_words
from workbench.report.blocks import Block, Section, Text, plain_name, plain_text
from workbench.report.blocks import Facts as Names
from workbench.report.facts import Facts, SectionSpec
from workbench.report.sections.summary import interval_words
from workbench.runs.store.notes import CARD_FIELDS


def section(facts: Facts) -> Section:
    """What people have written, below what is known."""
    blocks: list[Block] = [Names(_known(facts))]
    for key, title, hint in CARD_FIELDS:
        written = plain_text(getattr(facts.notes.card, key))
        blocks.append(Text(f"{title}.", "strong"))
        blocks.append(Text(written, "quote") if written else Text(f"Not filled in: {hint}", "note"))
    words = "The parts are those of Mitchell et al., Model Cards for Model Reporting (2019)."
    return Section("Model card", [*blocks, Text(words, "note")])


def _known(facts: Facts) -> list[tuple[str, str]]:
    rows = [("Model", _model(facts))]
    if facts.card is not None:
        height, width, channels = facts.card.input_shape
        color = {1: "grayscale", 3: "color"}.get(channels, f"{channels} channels")
        rows.append(("Takes", f"One image, {width} × {height}, {color}"))
    names = facts.class_names
    if names:
        listed = ", ".join(plain_name(name) for name in names[:20])
        more = f" and {len(names) - 20:,} more" if len(names) > 20 else ""
        rows.append(("Gives", f"A probability for each of {len(names):,} classes: {listed}{more}"))
    rows.append(("Training data", plain_name(facts.summary.dataset or "unknown")))
    test = facts.test
    if test is not None and test.accuracy is not None:
        interval = interval_words(facts)
        words = f"Accuracy {share(test.accuracy)}" + (
            f" (95% interval {interval})" if interval else ""
        )
        rows.append(("Metrics", words))
    if result := facts.scored.result:
        lowest = min(result.per_class, key=lambda score: (score.recall, score.name))
        recall = f"{share(lowest.recall)} of {lowest.count:,} images recognized"
        words = f"{plain_name(lowest.name)}: {recall}"
        rows.append(("Weakest class", words))
    if facts.card is not None and facts.card.calibration is not None:
        rows.append(("Calibration", calibration_words(facts.card.calibration)))
    rows.append(("Known limit", _limit(facts)))
    return rows


def _model(facts: Facts) -> str:
    parts = [plain_name(facts.summary.label or facts.request.title)]
    if facts.analysis is not None:
        parts.append(f"{facts.analysis.costs.parameters.total:,} parameters")
    return ", ".join(parts)


def _limit(facts: Facts) -> str:
    count = len(facts.class_names)
    classes = f"one of these {count:,} classes" if count else "one of its classes"
    reasons = _unknown_reasons(facts.card.calibration if facts.card is not None else None)
    if not reasons:
        return f"Every image is assigned to {classes}, also one that shows anything else."
    return f"An image is assigned to {classes}, or to none: “unknown” {' or '.join(reasons)}."


def _unknown_reasons(found: Calibration | None) -> list[str]:
    reasons = []
    if found is not None and found.limit is not None:
        mark, least = found.distance, f"{share(KEPT_SHARE, 0)} of the validation images are within"
        words = (mark.words if mark is not None else "") or least
        reasons.append(f"where it is {FAR} (of the limit: {words})")
    if found is not None and found.least_probability is not None:
        reasons.append(f"where its highest probability is below {share(found.least_probability)}")
    return reasons


SPEC = SectionSpec(key="card", order=70, make=section)
