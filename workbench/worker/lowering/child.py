"""Lowering in a process of its own, with a deadline: an untrusted network may be too large for
XLA or TensorFlow, or compile for hours.

It is sent its order as a line, and answers with a line for each batch. The end of its stdin
means that its parent has ended.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import IO

import msgspec

from workbench.core.projects.project import HERE, Project
from workbench.core.projects.project_file import parse_project, project_text
from workbench.errors import ChildDiedError, DeadlineError
from workbench.preflight.lowered import Lowered, Lowering, Refused, Unchecked
from workbench.processes.child import Child
from workbench.protocol import wire
from workbench.protocol.bases import ErrorParts
from workbench.protocol.service_call import worker_command
from workbench.runs.environment import trainer_environment
from workbench.worker.process.failure import error_parts
from workbench.worker.process.lazy_keras import keras


class _Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a child is to do: the project as in its file, and the arguments of `lower_step`."""

    project: str
    batches: list[int]
    precision: str
    num_classes: int


class _Wrong(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Answer where nothing was lowered: an error in the project, or a fault of ours."""

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

    Each answer may take `deadline_s` seconds, the first one with TensorFlow's start included;
    `check` is called a few times a second, and what it raises ends the child.

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
    over: Unchecked | None = None  # the child is gone: the rest is answered alike
    with Child(
        worker_command("lower"),
        name="TensorFlow",
        # Where the project is to be trained says nothing about this process.
        environment=trainer_environment(Project(target=HERE), {}),
        check=check,
    ) as child:
        child.send(msgspec.json.encode(order) + b"\n")
        for batch in batches:
            try:
                answer = over or _next_answer(child, deadline_s)
            except DeadlineError:
                words = f"XLA did not finish within {deadline_s:g} s."
                answer = over = Unchecked(words=words)
            except ChildDiedError as error:
                answer = over = Unchecked(words=f"During the check, {error.what}")
            yield batch, answer


def _next_answer(child: Child, deadline_s: float) -> Lowering:
    answer: _Line = msgspec.json.decode(child.answer(deadline_s=deadline_s), type=_Line)
    if isinstance(answer, _Wrong):
        raise wire.error_from_parts(answer.error)
    return answer


# the child ------------------------------------------------------------------------------


def run_child(protocol: IO[bytes]) -> int:
    """Answers the order on stdin with lines to `protocol`; returns the exit code. Whatever
    libraries print must go elsewhere.
    """
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=_Order)
    threading.Thread(target=_end_with_parent, daemon=True).start()

    def send(line: _Line) -> None:
        protocol.write(msgspec.json.encode(line) + b"\n")
        protocol.flush()

    try:
        for answer in _answers(order):
            send(answer)
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent reports it
        send(_Wrong(error=error_parts(error)))
    return 0


def _answers(order: _Order) -> Iterator[Lowering]:
    from workbench.worker.lowering.lower import lower_step

    project = parse_project(order.project, "the project")
    for batch in order.batches:
        yield lower_step(
            project, batch=batch, precision=order.precision, num_classes=order.num_classes
        )
        keras.backend.clear_session()  # what one batch needed must not stay for the next


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)
