"""A notebook that trains the project on Colab or Kaggle, where no desktop reaches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from workbench.core.specs import ExportSpec
from workbench.programs.notebook import cells
from workbench.programs.texts import save_program

_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebook(context: Any, file: str) -> dict[str, Any]:
    """The notebook of a file's name as its format (nbformat 4.5) has it, without outputs."""
    made: list[dict[str, Any]] = []
    for number, cell in enumerate(cells(context, file)):
        more: dict[str, Any] = {"execution_count": None, "outputs": []} if cell.is_code else {}
        made.append(
            {
                "cell_type": "code" if cell.is_code else "markdown",
                "id": f"cell-{number}",
                "metadata": {},
                **more,
                "source": cell.text.rstrip("\n").splitlines(keepends=True),
            }
        )
    metadata = {"kernelspec": _KERNEL, "language_info": {"name": "python"}, "accelerator": "TPU"}
    return {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _write(context: Any, path: str) -> None:
    text = json.dumps(notebook(context, Path(path).name), indent=1, ensure_ascii=False)
    context.check()
    save_program(context, Path(path), f"{text}\n".encode())


SPEC = ExportSpec(
    key="notebook",
    title="Notebook for Colab or Kaggle",
    summary="Trains this project there on a TPU, GPUs or the CPU, and writes a results file to "
    "import in Workbench.",
    suffix=".ipynb",
    write=_write,
    needs_weights=False,
)
