"""A script of the notebook's cells, for a TPU host or any other computer with Keras."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from workbench.core.specs import ExportSpec
from workbench.programs.notebook import Cell, cells
from workbench.programs.texts import save_program


def script(context: Any, file: str) -> str:
    """The program; words are comments, and "# %%" parts the cells, as editors expect.

    Args:
        context: As of `cells`.
        file: The name of its file.
    """
    return "\n\n".join(_part(cell) for cell in cells(context, file))


def _part(cell: Cell) -> str:
    if cell.is_code:
        return f"# %%\n{cell.text}"
    return "# %% [markdown]\n" + textwrap.indent(cell.text, "# ", lambda _line: True).replace(
        "# \n", "#\n"
    )


def _write(context: Any, path: str) -> None:
    text = script(context, Path(path).name)
    context.check()
    save_program(context, Path(path), text.encode())


SPEC = ExportSpec(
    key="tpu_script",
    title="Training script for a TPU",
    summary="The notebook as one Python script, for a TPU host or any computer with Keras; it "
    "writes the same results file.",
    suffix=".py",
    write=_write,
    needs_weights=False,
)
