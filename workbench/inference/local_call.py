"""Classification in this process, in place of a service worker: nothing else is started."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Self

from workbench.errors import RunError, WorkbenchError
from workbench.inference.load import load_onnx_runner
from workbench.inference.many import classify_many
from workbench.inference.runner import Runner
from workbench.protocol.bases import Answer
from workbench.protocol.classify_many import ClassifyMany
from workbench.protocol.messages import Failed, Progress
from workbench.protocol.wire import error_parts


class LocalCall:
    """Classifies as the service worker does, with one model.

    Args:
        model: Path of a run folder.

    Raises:
        NeedsTensorFlowError: a service worker is needed; see `load_onnx_runner` for other errors.
    """

    def __init__(self, model: str) -> None:
        self._runner = load_onnx_runner(model)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        pass

    def answers(self, request: ClassifyMany) -> Iterator[Answer]:
        """Yields the answers as they come; the last is a final one. A caller that goes away before
        the last cancels the request.
        """
        task = _Task(request.id, self._runner)
        thread = threading.Thread(target=_work, args=(task, request), name="classify", daemon=True)
        thread.start()
        try:
            while (answer := task.answers.get()) is not None:
                yield answer
        finally:
            task.cancel()
            thread.join()


class _Task:
    """The request while it is done, see `Task`."""

    def __init__(self, request_id: int, runner: Runner) -> None:
        self.id = request_id
        self.answers: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()
        self._runner = runner
        self._cancelled = threading.Event()

    def send(self, answer: Answer, /) -> None:
        self.answers.put(answer)

    def progress(self, text: str, fraction: float | None = None) -> None:
        self.send(Progress(id=self.id, text=text, fraction=fraction))

    def cancel(self) -> None:
        self._cancelled.set()

    def check_cancelled(self) -> None:
        if self._cancelled.is_set():
            raise RunError("Canceled.")

    def runner(self, _model: str) -> Runner:
        return self._runner


def _work(task: _Task, request: ClassifyMany) -> None:
    try:
        task.send(classify_many(task, request))
    except WorkbenchError as error:
        task.send(Failed(id=task.id, error=error_parts(error)))
    finally:
        task.answers.put(None)
