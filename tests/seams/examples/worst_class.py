"""A panel of Evaluate: the class that is found least often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.gui.common.view_spec import PanelSpec

if TYPE_CHECKING:
    from workbench.gui.evaluate.state import EvaluateState
    from workbench.protocol.trained.evaluate import Evaluation


def _make(state: EvaluateState) -> QWidget:
    from workbench.core.format import share
    from workbench.gui.kit.labels import plain_label
    from workbench.gui.kit.widgets import TitledBox

    box = TitledBox("Worst class")
    words = plain_label()
    box.column.addWidget(words)

    def show(result: Evaluation) -> None:
        worst = min(result.per_class, key=lambda score: score.recall or 0.0)
        words.setText(f"{worst.name}: {share(worst.recall)} found")

    state.evaluated.connect(show)
    return box


SPEC = PanelSpec(
    key="worst_class", view="evaluate", title="Worst class", area="bottom", order=30, make=_make
)
