"""Asks the TPU compiler in its own environment: one child for as many programs as wanted."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Self

import msgspec

from workbench.preflight.compile_answers import (
    CompilerAnswer,
    fault_error,
    read_answer,
)
from workbench.preflight.line_child import LineChild
from workbench.targets._tpu_chips import ChipChoice

START_S = 120.0
"""Deadline for importing the compiler; takes 2 to 10 s."""

COMPILE_S = 300.0
"""Deadline for one program; a large network takes a minute on two cores."""

_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH")


class _Started(msgspec.Struct, frozen=True, kw_only=True):
    ready: dict[str, str] = {}
    fault: str = ""


class CompilerCall:
    """The compiler, running as long as its `with` block.

    Args:
        python: Of the compiler environment.
        folder: Private; for programs and the compiler's log.
        check: Called often; raises when the asker gives up.
        compile_s: Deadline for one program.
    """

    def __init__(
        self,
        python: Path,
        folder: Path,
        *,
        check: Callable[[], None],
        compile_s: float = COMPILE_S,
    ) -> None:
        self._folder = folder
        self._compile_s = compile_s
        self._logs = folder / "compiler-logs"
        program = Path(__file__).with_name("compile_child.py")
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        environment["TPU_LOG_DIR"] = str(self._logs)
        self._child = LineChild(
            [str(python), "-I", str(program)],
            environment,
            name="the TPU compiler",
            folder=folder,
            check=check,
        )
        self.versions: dict[str, str] = {}

    def __enter__(self) -> Self:
        self._logs.mkdir(exist_ok=True)
        self._child.__enter__()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._child.__exit__(*exc_info)

    def compile(self, text: str, chip: ChipChoice) -> CompilerAnswer:
        """Compiles one core's part of a program in StableHLO.

        Raises:
            TpuError: the compiler cannot be used.
            DeadlineError: it took too long; the call is over then.
            ChildDiedError: it has died.
        """
        if not self.versions:
            self._start()
        path = self._folder / "step.mlir"
        path.write_text(text, encoding="utf-8")
        order = {
            "text": str(path),
            "topology": chip.topology,
            "megacore": chip.generation.is_megacore,
        }
        return read_answer(self._child.ask(msgspec.json.encode(order), deadline_s=self._compile_s))

    def _start(self) -> None:
        line = self._child.next_line(deadline_s=START_S)
        try:
            started = msgspec.json.decode(line, type=_Started)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise fault_error(line[:200].decode("utf-8", "replace")) from error
        if not started.ready:
            raise fault_error(started.fault)
        self.versions = started.ready
