"""A network as TensorFlow's own format, with signatures for images and for image files."""

from __future__ import annotations

from typing import Any

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
