"""Lowering in a process of its own, with a deadline: a network that nobody vouches for may be
too large for XLA, for TensorFlow, or for anybody's patience.

Order and texts go through files of a folder; the child says with a line each when an answer is
there. The end of its stdin means that nobody waits for it any more.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import msgspec

from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import parse_project, project_text
from workbench.preflight.lowered import Lowered, Lowering, Refused, Unchecked
from workbench.protocol import wire
from workbench.protocol.messages import ErrorParts
from workbench.runs.environment import trainer_environment
from workbench.worker.process.failure import error_parts

_LOOK_S = 0.2
_LONGEST_LINE = 1 << 20


class _Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a child is to do: the project as in its file, and what `lower_step` takes."""

    project: str
    batches: list[int]
    precision: str
    num_classes: int


class _Wrong(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Nothing was lowered: an error in the project, or a fault of ours."""

    error: ErrorParts


_Line = Lowered | Refused | Unchecked | _Wrong


def lower_within(
    project: Project,
    *,
    batches: Sequence[int],
    precision: str,
    num_classes: int = 0,
    deadline_s: float,
    check: Callable[[], None] = lambda: None,
) -> Iterator[tuple[int, Lowering]]:
    """`lower_step` for several batches, in a child process that ends with the last answer.

    Args:
        project: Graph and recipe.
        batches: Pictures a step of one replica.
        precision: "float32" or "bfloat16".
        num_classes: Number of classes; 0 for the network's number of outputs.
        deadline_s: Seconds for each answer, for the first one TensorFlow's start included.
        check: Called a few times a second; what it raises ends the child.

    Yields:
        (batch, answer) in the order of `batches`, each as soon as it is there.

    Raises:
        GraphError: the network has errors, or its outputs are not the classes.
    """
    order = _Order(
        project=project_text(project),
        batches=list(batches),
        precision=precision,
        num_classes=num_classes,
    )
    with tempfile.TemporaryDirectory(prefix="lowering-") as name:
        folder = Path(name)
        _order_path(folder).write_bytes(msgspec.json.encode(order))
        over: Unchecked | None = None
        with _child(folder) as child:
            for number, batch in enumerate(batches):
                try:
                    answer = over or _next_answer(child, folder, number, deadline_s, check)
                except _OverError as error:
                    answer = over = error.answer
                yield batch, answer


class _OverError(Exception):
    """The child is gone; the rest of the batches is answered alike."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.answer = Unchecked(words=words)


@contextmanager
def _child(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    # Where the project is to be trained says nothing about this process.
    here = Project(target=Choice("this_computer"))
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "workbench.worker", "lower", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,  # a line that waits in a buffer would not wake the selector
        env=trainer_environment(here, {}),
        start_new_session=True,
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def _next_answer(
    child: subprocess.Popen[bytes],
    folder: Path,
    number: int,
    deadline_s: float,
    check: Callable[[], None],
) -> Lowering:
    line = _next_line(child, time.monotonic() + deadline_s, check)
    if line is None:
        raise _OverError(f"XLA has not come to an end with it within {deadline_s:g} s.")
    if not line:
        raise _OverError(_end_words(child.wait()))
    answer: _Line = msgspec.json.decode(line, type=_Line)
    if isinstance(answer, _Wrong):
        raise wire.error_from_parts(answer.error)
    if isinstance(answer, Lowered):
        return msgspec.structs.replace(answer, text=_text_path(folder, number).read_text())
    return answer


def _next_line(
    child: subprocess.Popen[bytes], end: float, check: Callable[[], None]
) -> bytes | None:
    """A line of the child; b"" when it is gone; None when the time is over."""
    stdout = cast("IO[bytes]", child.stdout)
    with selectors.DefaultSelector() as selector:
        selector.register(stdout, selectors.EVENT_READ)
        while time.monotonic() < end:
            check()
            if selector.select(_LOOK_S):
                return stdout.readline(_LONGEST_LINE)
    return None


def _end_words(code: int) -> str:
    if code == -signal.SIGKILL:
        return "It was ended while it was being tried: this computer's memory may be too small."
    return f"TensorFlow crashed while it was being tried (exit status {code})."


def _order_path(folder: Path) -> Path:
    return folder / "order.json"


def _text_path(folder: Path, number: int) -> Path:
    return folder / f"{number}.mlir"


# the child ------------------------------------------------------------------------------


def run_child(folder: Path, protocol: IO[bytes]) -> int:
    """Answers the order in a folder; returns the exit code.

    Args:
        folder: Where `lower_within` has put it.
        protocol: Where the lines go; whatever libraries print must go elsewhere.
    """
    threading.Thread(target=_end_with_parent, daemon=True).start()
    order = msgspec.json.decode(_order_path(folder).read_bytes(), type=_Order)

    def tell(line: _Line) -> None:
        protocol.write(msgspec.json.encode(line) + b"\n")
        protocol.flush()

    try:
        for number, answer in enumerate(_answers(order)):
            if isinstance(answer, Lowered):
                _text_path(folder, number).write_text(answer.text)
                answer = msgspec.structs.replace(answer, text="")  # noqa: PLW2901
            tell(answer)
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent tells it
        tell(_Wrong(error=error_parts(error)))
    return 0


def _answers(order: _Order) -> Iterator[Lowering]:
    import keras
    import tensorflow as tf

    from workbench.worker.lowering.lower import lower_step

    project = parse_project(order.project, "the project")
    for batch in order.batches:
        yield lower_step(
            tf,
            keras,
            project,
            batch=batch,
            precision=order.precision,
            num_classes=order.num_classes,
        )
        keras.backend.clear_session()  # what one batch needed must not stay for the next


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)
