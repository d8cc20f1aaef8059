"""How it was trained: the curves, and what of the recipe matters."""

from __future__ import annotations

from workbench.core.format import count, duration, plural, share
from workbench.core.training.recipe import RECIPE_PARAMS, TrainingRecipe
from workbench.report.blocks import Block, Figure, Section, Text
from workbench.report.blocks import Facts as Names
from workbench.report.facts import Facts, SectionSpec
from workbench.report.figures.curves import curves_drawing
from workbench.runs.log.texts import best_words, saved_words

_ALWAYS = frozenset(
    {"optimizer", "learning_rate", "batch_size", "epochs", "loss", "schedule", "validation", "seed"}
)
"""Settings that are named also where they are the default."""


def section(facts: Facts) -> Section:
    """Curves, phases and recipe."""
    blocks: list[Block] = []
    drawing = curves_drawing(facts.history)
    if drawing is not None:
        blocks.append(Figure(drawing=drawing, caption=_caption(facts), alt=_alt(facts)))
    else:
        missing = "There are no curves: nothing was logged of a training of this run yet."
        blocks.append(Text(missing, "missing"))
    project = facts.project
    if project is not None:
        blocks.append(Names(recipe_rows(project.recipe)))
    return Section("Training", blocks)


def recipe_rows(recipe: TrainingRecipe) -> list[tuple[str, str]]:
    """The settings that change anything and are not their default, and the usual ones, in the
    words of the form.
    """
    rows = []
    for param in RECIPE_PARAMS:
        value = getattr(recipe, param.key)
        if param.key in _ALWAYS or (value != param.default and recipe.is_used(param.key)):
            rows.append((param.title, param.show(value)))
    return rows


def _caption(facts: Facts) -> str:
    history, started = facts.history, facts.history.started
    parts = [f"{plural(len(history.epochs), 'epoch')} logged."]
    if started is not None:
        best = best_words(history.best, started.keep_by, is_on_test=history.is_validated_on_test)
        parts.append(f"{best}." if best else "")
        if started.fine_tuning_after:
            parts.append(f"Fine-tuning begins after epoch {count(started.fine_tuning_after)}.")
    saved = saved_words(facts.weights)
    parts.append(f"{saved}." if saved else "")
    if facts.history.training_s:
        parts.append(f"It took {duration(facts.history.training_s)}.")
    return " ".join(filter(None, parts))


def _alt(facts: Facts) -> str:
    """The curves in words: their first and last values."""
    epochs = facts.history.epochs
    if not epochs:
        return "Curves of loss and accuracy within the first epoch."
    first, last = epochs[0], epochs[-1]
    parts = [
        f"training accuracy from {share(first.accuracy)} to {share(last.accuracy)}",
        f"validation accuracy from {share(first.val_accuracy)} to {share(last.val_accuracy)}"
        if last.val_accuracy is not None
        else "",
    ]
    words = ", ".join(filter(None, parts))
    return f"Curves of loss and accuracy over {plural(len(epochs), 'epoch')}: {words}."


SPEC = SectionSpec(key="training", order=30, make=section)
