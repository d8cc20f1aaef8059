"""LiteRT: the converter, and what all formats of it have in common."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from workbench.core.outside_text import one_line
from workbench.core.specs import ExportReader, ExportSpec
from workbench.exports._c.flat import read_flat_model
from workbench.exports._python_runtime import python_runtime
from workbench.exports._saved_model import SIGNATURE, save
from workbench.parts import LITERT

_FACTS, _LABELS = "workbench.json", "labels.txt"


def _about_integers(_context: Any, path: Path) -> str:
    """How the integers of a model are read."""
    model = read_flat_model(path.read_bytes())
    image, scores = model.tensors[model.image], model.tensors[model.answers["scores"]]
    return f"""\
Input and output of the model are integers of 8 bits ({image.dtype}, {scores.dtype}). An integer
stands for (integer - zero point) * scale: in the input for 0 to 255 (scale {image.scale:g}, zero
point {image.zero}), in the output for a probability (scale {scores.scale:g}, zero point
{scores.zero}). The model holds these numbers, too (`quantization` in LiteRT)."""


_READER = ExportReader(
    runtime=python_runtime("ai_edge_litert.interpreter", "ai-edge-litert", LITERT),
    section="litert",
)
_INTEGER_READER = replace(
    _READER, runtime=replace(_READER.runtime, about=_about_integers), has_temperature=True
)


def lite_spec(
    key: str,
    title: str,
    summary: str,
    change: Callable[[Any, Any], None],
    *,
    order: int,
    is_exact: bool = False,
    is_integer: bool = False,
    is_calibrated_by: int = 0,
) -> ExportSpec:
    """A format of LiteRT.

    Args:
        key: As of ExportSpec.
        title: As of ExportSpec.
        summary: As of ExportSpec.
        change: (tf, converter) -> None: sets what the format is.
        order: As of ExportSpec.
        is_exact: As of ExportReader.
        is_integer: The converter is handed images of float numbers, and makes them integers.
        is_calibrated_by: As of ExportSpec.
    """
    return ExportSpec(
        key=key,
        title=title,
        summary=summary,
        suffix=".tflite",
        group="Phones and small devices",
        order=order,
        write=partial(
            _write, change=change, is_integer=is_integer, is_calibrated=bool(is_calibrated_by)
        ),
        has_layers=True,
        is_standard=False,
        is_calibrated_by=is_calibrated_by,
        reader=replace(_INTEGER_READER if is_integer else _READER, is_exact=is_exact),
    )


def _write(
    context: Any,
    path: str,
    *,
    change: Callable[[Any, Any], None],
    is_integer: bool,
    is_calibrated: bool,
) -> None:
    found = converted(context, change, is_integer=is_integer, is_calibrated=is_calibrated)
    Path(path).write_bytes(found)
    # As LiteRT keeps what belongs to a model: an archive behind it, which runtimes pass over.
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_FACTS, context.facts_json())
        archive.writestr(_LABELS, "\n".join(map(one_line, context.card.class_names)))


def converted(
    context: Any,
    change: Callable[[Any, Any], None],
    *,
    is_integer: bool,
    is_calibrated: bool,
    count: int | None = None,
) -> bytes:
    """The network as LiteRT's converter writes it.

    Args:
        context: An ExportContext.
        change: As of `lite_spec`.
        is_integer: As there.
        is_calibrated: It has calibration images.
        count: Batch size, where that is fixed; None for any.
    """
    tf = context.tf
    folder = str(context.folder / "saved_model")
    save(context, folder, dtype=tf.float32 if is_integer else tf.uint8, count=count)
    converter = tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=[SIGNATURE])
    change(tf, converter)
    if is_calibrated:
        converter.representative_dataset = partial(_samples, context)
    model: bytes = converter.convert()
    return model


def integers_only(tf: Any, converter: Any) -> None:
    """Restricts the converter to numbers of 8 bits, those of images and answers, too."""
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = tf.uint8
    converter.inference_output_type = tf.uint8


def _samples(context: Any) -> Iterator[list[Any]]:
    """One image after the other, in a batch of its own, as the converter takes them."""
    for image in context.calibration:
        yield [image[None].astype("float32")]
