"""The file of weights beside a program, which its training starts from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.core.storage.save import save_bytes


def pretrained_name(file: str) -> str:
    """The name of the file of weights that belongs to a program, by the program's own."""
    return f"{Path(file).stem}.pretrained.weights.h5"


def save_program(context: Any, path: Path, data: bytes) -> None:
    """Writes a program, and before it the weights where its training starts with some.

    Args:
        context: As the worker hands it to exports: `has_pretrained`, `initial_weights`.
        path: The program's file.
        data: Its content.
    """
    if context.has_pretrained:
        save_bytes(path.with_name(pretrained_name(path.name)), context.initial_weights())
    save_bytes(path, data)
