"""A stand-alone Python script: the network, its training, and classifying with it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from workbench.core.specs import ExportSpec
from workbench.exports._lite import READER, weights_of
from workbench.programs.reader import reader_source
from workbench.programs.texts import (
    comment_text,
    fill,
    images_name,
    literal,
    pretrained_name,
    read,
    save_program,
    sections,
    sequence,
)
from workbench.programs.training import fit_values, layer_lines, names_of, output_of, tuned_name


def script(context: Any, file: str) -> str:
    """The text of the script for a run, as the worker hands it to exports."""
    return _script(context.card, context, file, context.card.class_names)


def untrained_script(context: Any, file: str) -> str:
    """The text of the script for a project. Classes are numbered where their names are unknown."""
    if context.class_names:
        return _script(context, context, file, context.class_names)
    numbers = [str(number) for number in range(context.num_outputs)]
    return _script(context, context, file, numbers, is_numbered=True)


def _script(
    card: Any, context: Any, file: str, class_names: Sequence[str], *, is_numbered: bool = False
) -> str:
    calls = context.keras_calls()
    names = names_of(calls)
    fit = fit_values(context.recipe, is_logits=card.is_logits)
    values = {
        **_calibration(card),
        **fit,
        "has_images": context.images is not None,
        "digest": literal(context.images.digest if context.images is not None else ""),
        "images": comment_text(images_name(file)),
        "picked": f"{sections('parts.py')['picked']}\n\n" if fit["holds_out"] else "",
        "title": comment_text(card.title) or "A network",
        "file": comment_text(file.replace(" ", "_")),
        "input_shape": literal(tuple(card.input_shape)),
        "is_numbered": is_numbered,
        "class_names": sequence("CLASS_NAMES", class_names),
        "layers": "\n".join(layer_lines(calls, names, more=partial(tuned_name, context.recipe))),
        "output": output_of(calls, names),
        "is_pretrained": context.has_pretrained,
        "pretrained": comment_text(pretrained_name(file)),
        "pretrained_literal": literal(pretrained_name(file)),
        "has_fine_tuning": context.recipe.has_fine_tuning,
        "is_adapted": any(call.spec.is_adapted for call in calls),
        "fit_literal": literal(card.fit),
        "value_range": literal(getattr(card, "value_range", "")),
        "image_reader": reader_source(),
        "shares": "np.asarray(keras.ops.softmax(outputs))" if card.is_logits else "outputs",
    }
    return fill(read("script.py"), values)


def _calibration(card: Any) -> dict[str, Any]:
    """Temperature and threshold of a run's weights; a project has none."""
    found = getattr(card, "calibration", None)
    temperature = found.temperature if found is not None else None
    least = found.least_probability if found is not None else None
    return {
        "is_calibrated": temperature is not None,
        "temperature": literal(temperature),
        "has_least": least is not None,
        "least": literal(least),
        "has_limit": found is not None and found.limit is not None,
    }


def _write(context: Any, path: str) -> None:
    text = script(context, Path(path).name)
    save_program(context, Path(path), text.encode())


def _write_weights(context: Any, path: str) -> None:
    context.model.save_weights(weights_of(Path(path)))


def _write_project(context: Any, path: str) -> None:
    text = untrained_script(context, Path(path).name)
    context.check_script(text)
    save_program(context, Path(path), text.encode())


SPEC = ExportSpec(
    key="python",
    title="Python script",
    summary="A readable script with this model and its training, for plain Keras. It loads the "
    "exported .weights.h5.",
    suffix=".py",
    group="Keras and Python",
    order=3,
    write=_write,
    reader=READER,
    write_beside=_write_weights,
    write_project=_write_project,
)
