"""Images that a BatchNormalization has normalized, for the convolution that takes them.

The images themselves learn nothing, so of the gradient of the normalized ones only two sums per
channel are ever needed, for scale and offset; and to get it the whole convolution had to run
backward. Here scale and offset are factors of the convolution's kernel instead: of images with mean
0 and variance 1, and of a channel of ones that brings the offset, which like the image ends at the
borders. Their gradients come out of the kernel's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.worker.process.lazy_keras import tf

_MOST_CHANNELS = 4
"""More than that are no images: what comes from another layer needs its gradient anyway."""

_NORMALIZED = "_workbench_normalized"
"""Attribute of the output tensor of a normalization: its `NormalizedImages`."""


@dataclass(frozen=True)
class NormalizedImages:
    """Images before scale and offset.

    Attributes:
        values: (n, h, w, channels + 1); each channel has mean 0 and variance 1 over the batch,
            the last one is all ones.
        scale, offset: float32 (channels,).
    """

    values: Any
    scale: Any
    offset: Any

    def taken_in(self, kernel: Any) -> Any:
        """A kernel, float32 (h, w, channels, filters), for `values`: it gives what the kernel gives
        for the images with scale and offset.
        """
        ones = tf.reduce_sum(kernel * self.offset[:, tf.newaxis], axis=2, keepdims=True)
        scaled = kernel * self.scale[:, tf.newaxis]
        return tf.cast(tf.concat([scaled, ones], axis=2), self.values.dtype)


def are_images(inputs: Any) -> bool:
    """Whether a layer's inputs are (n, h, w, channels) of known sides with an image's channels."""
    shape = inputs.shape
    return len(shape) == 4 and shape[1:].is_fully_defined() and shape[-1] <= _MOST_CHANNELS


def normalize(images: Any, epsilon: float) -> tuple[Any, Any, Any]:
    """(normalized images, their mean, their variance over the batch); the latter (channels,).

    All float32, as the images.
    """
    height, width, channels = images.shape[1:]
    # In rows that are whole images the processor works on many values at once.
    rows = tf.reshape(images, [-1, height * width * channels])
    mean = _mean(rows, channels)
    rows -= _repeated(mean, height * width)
    variance = _mean(tf.square(rows), channels)
    rows *= _repeated(tf.math.rsqrt(variance + epsilon), height * width)
    return tf.reshape(rows, [-1, height, width, channels]), mean, variance


def offer(outputs: Any, normalized: Any, scale: Any, offset: Any) -> None:
    """Lets a convolution that takes these outputs of a normalization find what they are made of;
    `normalized` as of `normalize`.
    """
    values = tf.cast(normalized, outputs.dtype)
    values = tf.concat([values, tf.ones_like(values[..., :1])], axis=-1)
    setattr(outputs, _NORMALIZED, NormalizedImages(values, scale, offset))


def normalized_before(inputs: Any) -> NormalizedImages | None:
    """What was offered with a layer's inputs; None for nothing."""
    found: NormalizedImages | None = getattr(inputs, _NORMALIZED, None)
    return found


def _mean(rows: Any, channels: int) -> Any:
    return tf.reduce_mean(tf.reshape(tf.reduce_mean(rows, axis=0), [-1, channels]), axis=0)


def _repeated(values: Any, places: int) -> Any:
    return tf.tile(values, [places])
