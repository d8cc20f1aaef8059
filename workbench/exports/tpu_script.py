"""A script of the notebook's cells, for a TPU host or any other computer with Keras."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from workbench.core.specs import ExportSpec
from workbench.core.storage.save import save_bytes
from workbench.programs.notebook_cells import Cell, cells


def script(context: Any) -> str:
    """The program; words are comments, and "# %%" parts the cells, as editors expect."""
    return "\n\n".join(_part(cell) for cell in cells(context))


def _part(cell: Cell) -> str:
    if cell.is_code:
        return f"# %%\n{cell.text}"
    return "# %% [markdown]\n" + textwrap.indent(cell.text, "# ", lambda _line: True).replace(
        "# \n", "#\n"
    )


def _write(context: Any, path: str) -> None:
    text = script(context)
    context.check()
    save_bytes(Path(path), text.encode())


SPEC = ExportSpec(
    key="tpu_script",
    title="Training script for a TPU",
    summary="The notebook as one Python script, for a TPU host or any computer with Keras; it "
    "writes the same results file.",
    suffix=".py",
    write=_write,
    needs_weights=False,
)
