"""The data view: where the pictures come from, what is in them, how they are divided."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QScrollArea, QVBoxLayout, QWidget

from workbench.client.question import Handlers, Question
from workbench.core.checks.analysis import DatasetFacts
from workbench.core.projects.project import Choice
from workbench.core.specs import DatasetSpec
from workbench.errors import WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.data.contents import DataContentsPanel
from workbench.gui.data.source import DataSourcePanel
from workbench.gui.data.split import DataSplitPanel, Given
from workbench.gui.kit.buttons import button
from workbench.gui.kit.cards import Box
from workbench.gui.kit.labels import plain_label
from workbench.protocol.messages import DataDescription, DescribeData, Progress

_DELAY_MS = 300
_THUMBNAILS = 8
_SIDE_PX = 340


class DataView(QWidget):
    """Asks the service worker what the chosen source holds, and shows it."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._document = context.document
        self._service = context.service
        self._datasets = context.datasets
        self._question = Question(self._service)
        self._described: Choice | None = None
        self._asked: Choice | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DELAY_MS)
        self._timer.timeout.connect(self._on_timeout)
        self.source = DataSourcePanel(context)
        self.split = DataSplitPanel(context)
        self.contents = DataContentsPanel(context.theme)
        self.status = plain_label(role="dim", wrap=True)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.describe_button = button("Look at the pictures", icon="eye", theme=context.theme)
        self.cancel_button = button("Cancel")
        self.status.hide()
        self._build()
        self.describe_button.clicked.connect(self.describe)
        self.cancel_button.clicked.connect(self._on_cancel)
        self._document.dataset_changed.connect(self._on_source_changed)
        self._document.project_replaced.connect(self._on_source_changed)
        self._set_busy(is_busy=False)

    def _build(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 16, 16, 16)
        row.setSpacing(16)
        side = QWidget()
        side_column = QVBoxLayout(side)
        side_column.setContentsMargins(0, 0, 8, 0)
        side_column.setSpacing(14)
        source_box = Box("card", 16, 10)
        source_box.column.addWidget(self.source)
        buttons = QHBoxLayout()
        buttons.addWidget(self.describe_button)
        buttons.addWidget(self.cancel_button)
        buttons.addStretch(1)
        source_box.column.addLayout(buttons)
        source_box.column.addWidget(self.progress)
        source_box.column.addWidget(self.status)
        split_box = Box("card", 16, 10)
        split_box.column.addWidget(self.split)
        side_column.addWidget(source_box)
        side_column.addWidget(split_box)
        side_column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setWidget(side)
        scroll.setFixedWidth(_SIDE_PX)
        row.addWidget(scroll)
        row.addWidget(self.contents, 1)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._described != self._document.project.dataset and not self._question.is_open:
            self._ask_soon()

    def describe(self) -> None:
        """Asks what the chosen source holds; an earlier question is called off."""
        choice = self._document.project.dataset
        spec = self._datasets.get(choice.key)
        if spec is None:
            return
        self._call_off()
        self._asked = choice
        self._set_busy(is_busy=True)
        self._say("Starting to look…")
        recipe = self._document.recipe
        self._question.ask(
            DescribeData(
                id=0,
                source=choice.key,
                params=dict(choice.params),
                thumbnails_per_class=_THUMBNAILS,
                test_share=recipe.test_share,
                seed=recipe.seed,
            ),
            Handlers(
                on_done=self._on_described,
                on_failed=self._on_failed,
                on_progress=self._on_progress,
            ),
        )

    def _call_off(self) -> None:
        """Whatever was asked: its answers are passed over from here on."""
        self._timer.stop()
        if self._question.is_open:
            self._set_busy(is_busy=False)
        self._question.drop()

    def _on_source_changed(self) -> None:
        """Another source, or the document has forgotten what was told about this one."""
        self._described = None
        self.contents.clear()
        self.split.set_given(Given())
        if self._question.is_open and self._asked == self._document.project.dataset:
            return  # the answer is on its way
        self._call_off()
        self._say("")
        if self.isVisible():
            self._ask_soon()

    def _ask_soon(self) -> None:
        spec = self._datasets.get(self._document.project.dataset.key)
        if spec is None or self._is_incomplete(spec):
            self._say("Choose where the pictures are.")
            self.contents.say_empty(
                "Choose a folder with one folder of pictures per class, or drop one here."
            )
        elif spec.needs_download:
            self._say("These pictures are fetched from the internet on first use.")
        else:
            self._timer.start()

    def _on_timeout(self) -> None:
        if self.isVisible():
            self.describe()

    def _is_incomplete(self, spec: DatasetSpec) -> bool:
        value = self._document.project.dataset.params.get(spec.source_param, "")
        return bool(spec.source_param) and not value

    def _on_progress(self, progress: Progress) -> None:
        self._say(progress.text)
        self._show_fraction(progress.fraction)

    def _on_described(self, description: DataDescription) -> None:
        self._set_busy(is_busy=False)
        self._show(description)

    def _on_failed(self, error: WorkbenchError) -> None:
        self._set_busy(is_busy=False)
        self._described = None
        self._say("")
        self.contents.show_error(error)

    def _show(self, description: DataDescription) -> None:
        self._described = self._asked
        self._say("")
        self.contents.show_description(description)
        self.split.set_given(_given(description))
        self._document.set_dataset_facts(
            DatasetFacts(
                shape=tuple(description.shape) or None,
                num_classes=len(description.classes),
                title=description.title,
                num_train=description.num_train,
                num_test=description.num_test,
            )
        )

    def _on_cancel(self) -> None:
        self._question.cancel()

    def _set_busy(self, *, is_busy: bool) -> None:
        self.progress.setVisible(is_busy)
        self.cancel_button.setVisible(is_busy)
        self.describe_button.setVisible(not is_busy)
        self._show_fraction(None)

    def _say(self, words: str) -> None:
        self.status.setText(words)
        self.status.setVisible(bool(words))

    def _show_fraction(self, fraction: float | None) -> None:
        self.progress.setRange(0, 0 if fraction is None else 1000)
        if fraction is not None:
            self.progress.setValue(round(fraction * 1000))


def _given(description: DataDescription) -> Given:
    if description.is_test_split_off:
        return Given(description.num_train + description.num_test, 0)
    return Given(description.num_train, description.num_test)
