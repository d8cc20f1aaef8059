"""LiteRT: the converter, and what all formats of it have in common."""

from __future__ import annotations

import importlib.util
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from workbench.core.outside_text import one_line
from workbench.core.specs import ExportReader, ExportRuntime, ExportSpec
from workbench.exports._c.flat import read_flat_model
from workbench.parts import LITERT, TRAIN, Part
from workbench.programs.texts import literal, pretrained_name

# python runtime ------------------------------------------------------------------------------
# The runtimes that are modules of Python.


def python_runtime(module: str, package: str, part: Part) -> ExportRuntime:
    """The runtime that is a module.

    Args:
        module: Its name.
        package: What has it, for `pip install`.
        part: The part of Workbench that brings the package.
    """

    def missing() -> str:
        found = importlib.util.find_spec(module.partition(".")[0])
        return "" if found is not None else f"no module {module}"

    return ExportRuntime(
        name=module,
        package=package,
        missing=missing,
        install=lambda: part.install_command,
        command=lambda: (sys.executable, "-P"),
        child="reader_child.py",
        texts=("classify.py",),
        scripts={"classify.py": "script"},
        setup=f"pip install {package} numpy pillow",
        start="python",
    )


# saved model ---------------------------------------------------------------------------------
# A network as TensorFlow's own format, with signatures for images and for image files.

SIGNATURE, FILES_SIGNATURE = "serving_default", "serving_files"
"""Take "images" (n, height, width, channels) of 0..255, and "files", encoded (n,)."""

_RED, _GREEN, _BLUE, _HALF = 19595, 38470, 7471, 32768
"""Parts of gray in 65,536 as Pillow has them."""


def save(
    context: Any,
    path: str,
    *,
    dtype: Any = None,
    has_files: bool = False,
    count: int | None = None,
) -> None:
    """Writes a SavedModel.

    Args:
        context: An ExportContext.
        path: Folder to make.
        dtype: Type of the images' numbers, uint8 by default.
        has_files: With the signature for image files.
        count: Batch size, where that is fixed; None for any.
    """
    tf = context.tf
    shape = tuple(context.card.input_shape)
    module = tf.Module()
    module.variables_of_network = [variable.value for variable in context.model.variables]
    images = tf.TensorSpec((count, *shape), dtype or tf.uint8, name="images")
    signatures = {SIGNATURE: tf.function(context.answers, [images])}
    if has_files:
        files = tf.TensorSpec((None,), tf.string, name="files")

        def answer(files: Any) -> Any:
            def load(data: Any) -> Any:
                return fitted(tf, data, shape, context.card.fit)

            given = tf.TensorSpec(shape, tf.uint8)
            return context.answers(tf.map_fn(load, files, fn_output_signature=given))

        signatures[FILES_SIGNATURE] = tf.function(answer, [files])
    tf.saved_model.save(module, path, signatures=signatures)


def fitted(tf: Any, data: Any, shape: tuple[int, int, int], fit: str) -> Any:
    """The pixels of an encoded image as the network takes them, uint8, by TensorFlow's means.

    As Workbench fits it but for rounding, and but for what TensorFlow's decoder does not know:
    orientation by EXIF, transparency, 16 bits.
    """
    height, width, channels = shape
    image = tf.cast(tf.io.decode_image(data, 3, expand_animations=False), tf.int32)
    if channels == 1:
        parts = tf.constant([_RED, _GREEN, _BLUE], tf.int32)
        image = (tf.reduce_sum(image * parts, axis=2, keepdims=True) + _HALF) // 65_536
    image.set_shape((None, None, channels))
    full = tf.cast(tf.shape(image)[:2], tf.float32)
    size = tf.constant([height, width], tf.float32)
    box, inner = full, tf.constant([height, width], tf.int32)
    if fit == "crop":  # the largest centered part of the network's proportions
        box = tf.reduce_min(full / size) * size
    elif fit == "pad":
        scaled = tf.maximum(1.0, tf.round(full * tf.reduce_min(size / full)))
        inner = tf.cast(tf.minimum(size, scaled), tf.int32)
    scale = tf.cast(inner, tf.float32) / box
    pixels = tf.raw_ops.ScaleAndTranslate(
        images=tf.cast(image, tf.float32)[None],
        size=inner,
        scale=scale,
        translation=-(full - box) / 2 * scale,
        kernel_type="triangle",
        antialias=True,
    )[0]
    pixels = tf.cast(tf.clip_by_value(tf.floor(pixels + 0.5), 0, 255), tf.uint8)
    before = (tf.constant([height, width], tf.int32) - inner) // 2
    padded = tf.image.pad_to_bounding_box(pixels, before[0], before[1], height, width)
    return tf.ensure_shape(padded, shape)


# keras program -------------------------------------------------------------------------------
# Weights and the program that builds their network, for the formats that are one of both.

WEIGHTS_ENDING = ".weights.h5"

KERAS = python_runtime("keras", "keras tensorflow", TRAIN)


def stem(path: Path) -> str:
    """The name that weights and program share."""
    name = path.name
    return name.removesuffix(WEIGHTS_ENDING) if name.endswith(WEIGHTS_ENDING) else path.stem


def network_of(path: Path) -> Path:
    """The program beside weights, or a program itself."""
    return path.with_name(f"{stem(path)}.py")


def weights_of(path: Path) -> Path:
    """The weights beside a program, or weights themselves."""
    return path.with_name(f"{stem(path)}{WEIGHTS_ENDING}")


def _values(_context: Any, path: Path) -> Mapping[str, Any]:
    """The names of both files, in the program that classifies."""
    return {
        "network": literal(network_of(path).name),
        "weights_file": literal(weights_of(path).name),
    }


def _files(path: Path) -> Mapping[str, str]:
    """Both, and what the program's own training starts from."""
    network = network_of(path).name
    about = {
        network: "the network and its training, as a Python script for Keras",
        weights_of(path).name: "the trained weights",
        pretrained_name(network): f"the weights that a training with {network} starts from",
    }
    return {name: words for name, words in about.items() if name != path.name}


READER = ExportReader(
    runtime=KERAS,
    section="keras_weights",
    values=_values,
    files=_files,
    needs_tensorflow=True,
    has_softmax=False,
)


# lite ----------------------------------------------------------------------------------------

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
