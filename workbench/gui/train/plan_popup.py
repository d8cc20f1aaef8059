"""How a run is executed, and how to fix any of it in the recipe."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QFrame, QWidget

from workbench.core.format import count
from workbench.gui.kit.buttons import button
from workbench.gui.kit.cards import FactRows
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.protocol.events import Plan, RunStarted
from workbench.targets import target_title

_EXPLANATION = (
    "While the project is open, or else before the first epoch, a few execution settings are "
    "benchmarked, and the fastest is used. "
    "Each can be pinned in the training settings under Execution."
)
_PIPELINES = {
    "memory": "memory",
    "cached": "disk (decoded)",
    "streamed": "no cache (decoded each epoch)",
}


def plan_facts(started: RunStarted) -> list[tuple[str, str]]:
    """(name, value) of all parts of the plan, for people; pinned ones are marked."""
    plan = started.plan
    steps = "–" if plan.steps_per_call is None else count(plan.steps_per_call)
    rows = [
        ("precision", "Precision", plan.precision),
        ("xla", "XLA compilation", "yes" if plan.xla else "no"),
        ("steps_per_call", "Steps per execution", steps),
        ("pipeline", "Data cached in", _PIPELINES.get(plan.pipeline or "", plan.pipeline or "–")),
        ("threads", "CPU threads", f"{plan.threads}" if plan.threads else "all cores"),
        ("", "Benchmarked speedup", f"{plan.gain:.1f}× faster than float32" if plan.gain else "–"),
        ("", "Target", target_title(started.target)),
        ("", "Data parallelism", f"{started.replicas:,} replicas" if started.replicas > 1 else "–"),
        ("", "TensorFlow", started.versions.get("tensorflow", "–")),
    ]
    return [
        (title, f"{value}, pinned" if key in plan.pinned else value) for key, title, value in rows
    ]


def plan_pins(plan: Plan) -> Mapping[str, object]:
    """Values of the recipe that make every later run use this plan."""
    return {
        "precision": plan.precision,
        "xla": "on" if plan.xla else "off",
        "steps_per_call": plan.steps_per_call,
        "pipeline": plan.pipeline or "auto",
        "threads": plan.threads or None,
    }


class PlanPopup(QFrame):
    """All of a run's plan. `pin_wanted` with recipe values when it shall stay so."""

    pin_wanted = Signal(dict)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("role", "popup")
        self.setFixedWidth(380)
        self._plan: Plan | None = None
        self.words = plain_label(wrap=True)
        self.rows = FactRows()
        self.pin = button("Pin in training settings", role="link")
        self.pin.clicked.connect(self._on_pin)
        heading = plain_label("Execution settings", role="heading")
        explanation = plain_label(_EXPLANATION, role="dim", wrap=True)
        parts = (heading, self.words, self.rows, explanation, row(self.pin, STRETCH))
        column(*parts, parent=self, margins=(16, 14, 16, 12), spacing=10)

    def show_plan(self, started: RunStarted) -> None:
        """Fills in the plan of a run."""
        self._plan = started.plan
        self.words.setText(started.plan.words)
        self.words.setVisible(bool(started.plan.words))
        self.rows.set_facts(plan_facts(started))

    def open_below(self, anchor: QWidget) -> None:
        """Shows the popup with its upper right corner at a widget's lower right one."""
        self.adjustSize()
        corner = anchor.mapToGlobal(QPoint(anchor.width(), anchor.height() + 4))
        left = max(self.screen().availableGeometry().left(), corner.x() - self.width())
        self.move(left, corner.y())
        self.show()
        self.pin.setFocus()

    def _on_pin(self) -> None:
        self.close()
        if self._plan is not None:
            self.pin_wanted.emit(dict(plan_pins(self._plan)))
