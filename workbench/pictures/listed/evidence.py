"""What the cells of columns show beside those of the images: their folders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from workbench.core.class_names import folded
from workbench.pictures.listed.column import Column
from workbench.pictures.listed.files import Files

AGREEING = 0.95  # of the cells that agree, at least


def folder_column(columns: Sequence[Column], image: int, files: Files) -> int:
    """The column with the folder of each image, where names alone name no files or several; -1 for
    none.
    """
    names = columns[image].cells
    if len(columns) < 2 or files.share_of(names, is_deep=False) * 2 >= 1:
        return -1
    alone = files.share_of_single(names)
    for each in columns:
        is_folder = each.number != image and len(each.values) * 2 <= max(each.num_filled, 4)
        if is_folder and not each.is_flag and each.num_filled == len(each.cells):
            joined = [joined_path(*pair) for pair in zip(each.cells, names, strict=True)]
            if files.share_of_single(joined) >= max(AGREEING, alone + 1 - AGREEING):
                return each.number
    return -1


def joined_path(folder: str, name: str) -> str:
    """A name in a folder, as a table of two columns gives it."""
    return f"{folder.rstrip('/')}/{name}" if folder and name else name


def folders_of(cells: Sequence[str]) -> list[list[str]]:
    """The folders of each path, from the outermost."""
    return [
        [part for part in cell.replace("\\", "/").split("/")[:-1] if part not in {"", ".", ".."}]
        for cell in cells
    ]


def agrees(column: Column, folders: Sequence[Sequence[str]]) -> bool:
    """Whether its values are the folders of the images."""
    cells = zip(column.cells, folders, strict=True)
    pairs = Counter((cell, each[-1]) for cell, each in cells if each)
    same = sum(n for (cell, folder), n in pairs.items() if folded(cell) == folded(folder))
    return pairs.total() * 2 > len(folders) and same >= AGREEING * pairs.total()
