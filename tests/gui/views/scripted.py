"""A worker that a test answers for, and what it answers of images."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from workbench.protocol.classify import Classified, Classify, Score
from workbench.protocol.messages import Done


class ScriptedService(QObject):
    """Keeps what was asked; the test answers."""

    died = Signal(str)
    state_changed = Signal(str)

    def __init__(self):
        super().__init__()
        self.is_ready = False
        self.asked = []

    def send(self, request, on_answer):
        self.asked.append((request, on_answer))
        return len(self.asked)

    def end(self):
        pass

    def cancel(self, request_id):
        """What is called off is not answered."""

    def take(self, kind):
        """The oldest request of a kind that has not been taken."""
        for index, (request, _) in enumerate(self.asked):
            if isinstance(request, kind):
                return self.asked.pop(index)
        raise AssertionError(
            f"no {kind.__name__} among {[type(r).__name__ for r, _ in self.asked]}"
        )

    def has(self, kind):
        return any(isinstance(request, kind) for request, _ in self.asked)

    def awaited(self, qtbot, kind):
        """The same once there is one: what is shown sends its request right after that."""
        qtbot.waitUntil(lambda: self.has(kind))
        return self.take(kind)

    def answer_pictures(self):
        """Calls every picture of the next request a cat."""
        request, answer = self.take(Classify)
        for path in request.pictures:
            answer(cat(path))
        answer(Done(id=1))
        return request


def cat(path, **keywords):
    scores = [Score(name="cat", probability=0.9), Score(name="dog", probability=0.1)]
    values = {"label": "cat", "scores": scores, "milliseconds": 6.0, "width": 4032, "height": 3024}
    values["input_shape"] = [32, 32, 3]
    return Classified(file=str(path), **{**values, **keywords})


def give_weights(run):
    run.folder.weights_path.write_bytes(b"weights")
    run.folder.card_path.write_bytes(b"{}")


def words_below(strip):
    """The line below each tile."""
    return [strip.model().index(row, 0).data() for row in range(strip.num_tiles)]


def table_texts(table):
    """The cells of a table view, row by row."""
    model = table.model()
    columns = range(model.columnCount())
    return [[model.index(row, at).data() for at in columns] for row in range(model.rowCount())]
