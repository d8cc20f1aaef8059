"""Calls the TPU compiler in its own environment: one child for any number of programs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Self

import msgspec

from workbench.errors import ChildDiedError, DeadlineError
from workbench.hardware.tpu_chips import ChipChoice
from workbench.preflight.compile_answers import CompilerAnswer, fault_error, read_answer
from workbench.processes.child import Child

START_S = 120.0
"""Processor time for importing the compiler; takes 2 to 10 s."""

COMPILE_S = 600.0
"""Processor time for one program. Most take 5 to 60 s on two cores; but now and then the compiler
spends minutes on one fusion, and gets to the end of it.
"""

_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH")


class _Started(msgspec.Struct, frozen=True, kw_only=True):
    ready: dict[str, str] = {}
    fault: str = ""


class CompilerCall:
    """The compiler, running as long as its `with` block; restarted where it had to be ended.

    Args:
        python: Python executable of the compiler environment.
        folder: Private; for programs and the compiler's log.
        check: Called often; raises when the request is canceled.
    """

    def __init__(self, python: Path, folder: Path, *, check: Callable[[], None]) -> None:
        self._python = python
        self._folder = folder
        self._check = check
        self._child: Child | None = None
        self.versions: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._end()

    def compile(
        self, text: str, chip: ChipChoice, *, deadline_s: float = COMPILE_S
    ) -> CompilerAnswer:
        """Compiles one core's part of a program in StableHLO.

        Raises:
            TpuError: the compiler cannot be used.
            DeadlineError: it took too long.
            ChildDiedError: it has died, perhaps out of memory.
        """
        path = self._folder / "step.mlir"
        path.write_text(text, encoding="utf-8")
        order = {
            "text": str(path),
            "topology": chip.topology,
            "megacore": chip.generation.is_megacore,
        }
        try:
            child = self._child or self._start()
            return read_answer(child.request(msgspec.json.encode(order), deadline_s=deadline_s))
        except (DeadlineError, ChildDiedError) as error:
            self._end()
            if isinstance(error, DeadlineError):
                error.fix += " A smaller model or batch takes less time."
            raise

    def _end(self) -> None:
        if self._child is not None:
            self._child.end()
        self._child = None

    def _start(self) -> Child:
        logs = self._folder / "compiler-logs"
        logs.mkdir(exist_ok=True)
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        self._child = Child(
            [str(self._python), "-I", str(Path(__file__).with_name("compile_child.py"))],
            environment={**environment, "TPU_LOG_DIR": str(logs)},
            name="the TPU compiler",
            check=self._check,
            counts_work=True,
        )
        line = self._child.answer(deadline_s=START_S)
        try:
            started = msgspec.json.decode(line, type=_Started)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise fault_error(line[:200].decode("utf-8", "replace")) from error
        if not started.ready:
            raise fault_error(started.fault)
        self.versions = started.ready
        return self._child
