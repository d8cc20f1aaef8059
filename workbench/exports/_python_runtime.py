"""The runtimes that are modules of Python."""

from __future__ import annotations

import importlib.util
import sys

from workbench.core.specs import ExportRuntime
from workbench.parts import Part


def python_runtime(module: str, package: str, part: Part) -> ExportRuntime:
    """The runtime that is a module.

    Args:
        module: Its name.
        package: What has it, for `pip install`.
        part: The part of Workbench that brings the package.
    """

    def missing() -> str:
        found = importlib.util.find_spec(module.partition(".")[0])
        return "" if found is not None else f"no module {module}"

    return ExportRuntime(
        name=module,
        package=package,
        missing=missing,
        install=lambda: part.install_command,
        command=lambda: (sys.executable, "-P"),
        child="reader_child.py",
        texts=("classify.py",),
        scripts={"classify.py": "script"},
        setup=f"pip install {package} numpy pillow",
        start="python",
    )
