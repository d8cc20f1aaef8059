"""What the next run will take, beside its recipe; and one click when it would not fit."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from workbench.gui.run_predictor import RunPredictor, epoch_words, fit_words, memory_words
from workbench.gui.widgets.buttons import button
from workbench.gui.widgets.cards import FactRows
from workbench.gui.widgets.labels import plain_label, plain_tip
from workbench.gui.widgets.numbers import count


class PredictionBox(QFrame):
    """Epoch time and memory of the project as it is. `batch_wanted` with one that fits."""

    batch_wanted = Signal(int)

    def __init__(self, predictor: RunPredictor) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self._predictor = predictor
        self.rows = FactRows()
        self.trouble = plain_label(role="bad", wrap=True)
        self.basis = plain_label(role="dim", wrap=True)
        self.use = button("", role="")
        self.use.clicked.connect(self._on_use)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(plain_label("Before you train", role="heading"))
        column.addWidget(self.rows)
        column.addWidget(self.trouble)
        row = QHBoxLayout()
        row.addWidget(self.use)
        row.addStretch(1)
        column.addLayout(row)
        column.addWidget(self.basis)
        predictor.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Shows the present prediction."""
        prediction = self._predictor.prediction
        if prediction is None:
            self.rows.set_facts([("An epoch", "–"), ("Memory", "–")])
            self.basis.setText("Told once the network can be trained.")
        else:
            facts = [("An epoch", epoch_words(prediction)), ("Memory", memory_words(prediction))]
            self.rows.set_facts(facts)
            basis = prediction.basis()
            self.basis.setText(f"{basis[:1].upper()}{basis[1:]}.")
        trouble = fit_words(prediction) if prediction is not None else ""
        batch = prediction.fitting_batch if prediction is not None else None
        self.trouble.setText(trouble)
        self.trouble.setVisible(bool(trouble))
        self.use.setText(f"Use batch {count(batch)}" if batch else "")
        self.use.setToolTip(plain_tip("Changes the batch size of the recipe; can be undone."))
        self.use.setVisible(bool(batch))

    def _on_use(self) -> None:
        prediction = self._predictor.prediction
        if prediction is not None and prediction.fitting_batch:
            self.batch_wanted.emit(prediction.fitting_batch)
