"""Below the main settings when the next run would not fit into memory: why, and one click."""

from __future__ import annotations

from workbench.core.format import count
from workbench.document.project_document import ProjectDocument
from workbench.gui.common.run_estimator import RunEstimator
from workbench.gui.kit.buttons import button
from workbench.gui.kit.cards import Box
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, add_to, row


class MemoryWarning(Box):
    """Hidden while the run fits."""

    def __init__(self, document: ProjectDocument, estimator: RunEstimator) -> None:
        super().__init__("notice", spacing_px=8)
        self._document = document
        self._predictor = estimator
        self.words = plain_label(wrap=True)
        self.basis = plain_label(role="dim", wrap=True)
        self.use = button("")
        self.use.setToolTip("Changes the batch size in the training settings. Undo reverts this.")
        self.use.clicked.connect(self._on_use)
        add_to(self.column, self.words, self.basis, row(self.use, STRETCH))
        estimator.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Shows the present prediction."""
        prediction = self._predictor.prediction
        trouble = prediction.trouble if prediction is not None else ""
        self.setVisible(bool(trouble))
        if prediction is None or not trouble:
            return
        basis = prediction.memory_basis()
        self.words.setText(trouble)
        self.basis.setText(f"{basis[:1].upper()}{basis[1:]}.")
        batch = prediction.fitting_batch
        self.use.setText(f"Use batch {count(batch)}" if batch else "")
        self.use.setVisible(bool(batch))

    def _on_use(self) -> None:
        prediction = self._predictor.prediction
        if prediction is not None and prediction.fitting_batch:
            self._document.set_recipe(batch_size=prediction.fitting_batch)
