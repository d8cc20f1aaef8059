"""What the cells of columns show: folders of paths, columns of which each line has one 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.core.class_names import folded
from workbench.pictures.listed.column import Column
from workbench.pictures.listed.files import Files

AGREEING = 0.95  # of the cells that agree, at least
_WINDOW = 300  # columns of zeros and ones among which one-hot columns are looked for
_LINES = 2000  # by which they are found
_MOST_ONES = 0.5  # of the lines with a 1 in one of them, at least: the others are not labeled


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
    pairs = [(cell, each[-1]) for cell, each in zip(column.cells, folders, strict=True) if each]
    same = sum(folded(cell) == folded(folder) for cell, folder in pairs)
    return len(pairs) * 2 > len(folders) and same >= AGREEING * len(pairs)


def one_hot(columns: Sequence[Column]) -> list[Column]:
    """The longest row of neighboring columns of zeros and ones of which each line has one 1."""
    runs: list[list[Column]] = [[]]
    for each in columns:
        if each.is_binary and len(each.values) > 0 and not each.is_named_split:
            runs[-1].append(each)
        elif runs[-1]:
            runs.append([])
    best: list[Column] = []
    for run in runs:
        found = _exclusive(run[:_WINDOW])
        best = max(best, found, key=len)
    return best


def _exclusive(run: Sequence[Column]) -> list[Column]:
    """The longest part of a row of columns that sums to one in each line; the whole row may sum to
    none in some.
    """
    if len(run) < 2:
        return []
    cells = [each.cells[:: max(1, len(each.cells) // _LINES)] for each in run]
    ones = np.array([[cell[:1] == "1" for cell in each] for each in cells], np.int64)
    sums = np.concatenate([np.zeros((1, ones.shape[1]), np.int64), ones.cumsum(axis=0)])
    for size in range(len(run), 1, -1):
        for start in range(len(run) - size + 1):
            found = sums[start + size] - sums[start]
            least = _MOST_ONES if size == len(run) else 1
            if found.max(initial=0) == 1 and found.mean() >= least:
                return list(run[start : start + size])
    return []
