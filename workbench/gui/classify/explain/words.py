"""What an explanation says, in words for people who have not met heat maps before. Qt-free."""

from __future__ import annotations

from workbench.core.format import duration, share
from workbench.protocol.trained.explain import Explained, Method

AT_LAST = "gradcam_last"
"""Grad-CAM at the same layer for each picture, so that maps can be compared."""

METHODS: tuple[tuple[str, str, str], ...] = (
    ("gradcam", "Grad-CAM", "Where convolutions find evidence for the class"),
    (AT_LAST, "Grad-CAM (last)", "The same at the last convolution, for each picture"),
    ("gradients", "Gradients", "The pixels that would change the score of the class most"),
    ("occlusion", "Occlusion", "How far the probability falls where a patch covers the picture"),
)
"""Key, title and tooltip of each method."""


def title_of(method: Method) -> str:
    """The name of a method."""
    return next(title for key, title, _ in METHODS if key == method)


def facts_of(answer: Explained) -> str:
    """What is shown: method, class, layers, time."""
    where = f" at {', '.join(answer.layers)}" if answer.method == "gradcam" else ""
    took = duration(answer.milliseconds / 1000)
    name = f"“{answer.class_name}” ({share(answer.probability)})"
    return f"{title_of(answer.method)}{where} for {name}, {took}"


def layer_words(answer: Explained, *, is_fixed: bool) -> str:
    """Why it is these layers; "" for methods without layers."""
    if answer.method != "gradcam":
        return ""
    if is_fixed:
        return "The last convolution, the same for each picture."
    return (
        "Tried at up to eight layers; shown is the map that counts most for this answer. Another "
        "picture, class or run may have another layer."
    )
