"""The file that a source is pointed at."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.errors import DatasetError


def chosen_file(text: str, what: str, *, expected: str = "", for_folder: str = "") -> Path:
    """The path of a regular file.

    Args:
        text: The path as it is kept in the project.
        what: What it is, e.g. "a CSV file".
        expected: What is in it, for messages; `what` by default.
        for_folder: What to do where it is a folder.

    Raises:
        DatasetError: nothing is chosen, or there is no such file.
    """
    expected = expected or what
    if not text:
        raise DatasetError("No file has been chosen yet.", expected=expected, fix=f"Choose {what}.")
    path = Path(os.path.expanduser(text))  # noqa: PTH111 - keeps an unknown ~name as it is
    try:
        if path.is_file():
            return path
        is_folder, is_there = path.is_dir(), path.exists()
    except OSError as error:
        raise DatasetError(f"The file cannot be opened: {error.strerror}.", where=text) from None
    if is_folder:
        raise DatasetError(
            "This is a folder, not a file.", where=text, expected=expected, fix=for_folder
        )
    raise DatasetError(
        "This is not a regular file." if is_there else "There is no such file.",
        where=text,
        expected=expected,
        fix="Check the path, and the names of the settings behind the question mark."
        if "?" in path.name
        else "Check the path.",
    )
