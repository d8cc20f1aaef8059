"""The files beside a program: the images that it trains on, and the weights that it starts from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.core.storage.save import save_bytes


def pretrained_name(file: str) -> str:
    """The name of the file of weights that belongs to a program, by the program's own."""
    return f"{Path(file).stem}.pretrained.weights.h5"


def images_name(file: str) -> str:
    """The name of the file of images that belongs to a program, by the program's own."""
    return f"{Path(file).stem}.images.npz"


def save_program(context: Any, path: Path, data: bytes) -> None:
    """Writes a program, and before it the images and the weights that it needs.

    Args:
        context: As the worker hands it to exports: `images`, None for a program without; and
            `has_pretrained`, `initial_weights`.
        path: The program's file.
        data: Its content.
    """
    if context.images is not None:
        context.images.save(path.with_name(images_name(path.name)))
    if context.has_pretrained:
        save_bytes(path.with_name(pretrained_name(path.name)), context.initial_weights())
    save_bytes(path, data)
