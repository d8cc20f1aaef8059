"""What the panels of the data view share: what the chosen source holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.client.background import Background
from workbench.client.service_process import Handlers, Question
from workbench.core.checks.images import DatasetFacts
from workbench.core.projects.data_edits import DataEdits, edits_to_plain
from workbench.core.projects.project import Choice
from workbench.errors import WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.data.split_counts import ExactSplit
from workbench.gui.images.sample_dialog import ImageSource
from workbench.protocol.describe_data import DataDescription, DescribeData, Looked
from workbench.runs.trust import is_known

_Source = tuple[Choice, DataEdits]
"""What is described: a data set with edits."""

_DELAY_MS = 300
_THUMBNAILS = 8


class DataState(QObject):
    """Queries the service worker for what the project's source holds, while the view is shown.

    Signals:
        busy_changed(bool): Whether the source is being read.
        said(str): What is being done, or is missing; "" for nothing.
        progressed(Progress): How far the reading is.
        source_changed(): What was described is no longer the project's source.
        missing(str): What must be chosen before there is anything to show.
        described(DataDescription): What the source holds; once more when it is known completely.
        failed(WorkbenchError): Why it cannot be read.
        findings_shown(bool): Whether findings of the data check are shown in place of the contents.
        browse_wanted(str): The images of a class are to be shown, of all for "".
        browse_asked(): All images are to be shown, once it is known what the source holds.
        check_asked(bool): The images shall be checked, with True their labels too.
        browsing(bool): Whether all images are shown, in place of everything else.
        closing: The window closes.

    Attributes:
        context: The parts that all views work with.
        description: What the source holds; None while that is not known.
        background: Works out for the panels what takes long.
        exact: How the described images are divided.
    """

    busy_changed = Signal(bool)
    said = Signal(str)
    progressed = Signal(object)
    source_changed = Signal()
    missing = Signal(str)
    described = Signal(object)
    failed = Signal(object)
    browse_wanted = Signal(str)
    browse_asked = Signal()
    check_asked = Signal(bool)
    browsing = Signal(bool)
    closing = Signal()
    place_unknown = Signal(object)
    findings_shown = Signal(bool)

    def __init__(self, context: WindowContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self._document = context.document
        self.background = Background(self, max_threads=1)
        self._is_shown, self._is_browsing_asked = False, False
        self._question = Question(context.service)
        self._whole = Question(context.measurer)
        self._looked: tuple[Choice, Looked] | None = None
        self.exact = ExactSplit(context, self)
        self._described: _Source | None = None
        self.description: DataDescription | None = None
        self._asked: _Source | None = None
        self._values: dict[str, Any] = {}
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DELAY_MS)
        self._timer.timeout.connect(self.describe)
        self.browse_asked.connect(self._on_browse_asked)
        self._document.dataset_changed.connect(self._on_source_changed)
        self._document.edits_changed.connect(self._on_edits_changed)
        self._document.project_replaced.connect(self._on_source_changed)

    @property
    def is_described(self) -> bool:
        """Whether the contents of the source are known."""
        return self._described is not None

    @property
    def _source(self) -> _Source:
        project = self._document.project
        return project.dataset, project.edits

    def set_shown(self, *, is_shown: bool) -> None:
        """Sets whether the view is shown: while it is hidden nothing is requested for it."""
        self._is_shown = is_shown
        if not is_shown:
            self._is_browsing_asked = False
            self._timer.stop()
        elif self._described != self._source and not self._is_busy:
            self._ask_soon()

    def set_findings_shown(self, *, is_shown: bool) -> None:
        """Findings are shown in place of the contents, or no longer."""
        self.findings_shown.emit(is_shown)

    def close(self) -> None:
        """Ends all work in the background."""
        self._call_off()
        self.closing.emit()
        self.background.close()

    def rescan(self) -> None:
        """Requests what the chosen source holds as if nothing was known of it."""
        self._looked = None
        self.describe()

    def describe(self) -> None:
        """Requests what the chosen source holds; an earlier request is canceled. First it is
        listed, so that its images can be browsed; the other worker decodes them meanwhile.
        """
        choice, edits = self._source
        if choice.key not in self.context.datasets:
            return
        if not is_known(choice):
            self.place_unknown.emit(choice)
            return
        self._call_off()
        self._asked = choice, edits
        self.busy_changed.emit(True)
        self.said.emit("Loading…")
        self._values = self._document.recipe.split_values()
        self._question.ask(
            self._request(choice, edits, is_quick=True), self._handlers(self._on_failed)
        )

    def _request(self, choice: Choice, edits: DataEdits, *, is_quick: bool) -> DescribeData:
        looked = self._looked[1] if self._looked is not None and self._looked[0] == choice else None
        return DescribeData(
            id=0,
            source=choice.key,
            params=dict(choice.params),
            edits=edits_to_plain(edits),
            thumbnails_per_class=_THUMBNAILS,
            recipe=self._values,
            project_id=self._document.project_id,
            is_quick=is_quick,
            looked=looked,
        )

    def _handlers(self, on_failed: Callable[[WorkbenchError], None]) -> Handlers:
        return Handlers(
            on_done=self._on_described,
            on_failed=on_failed,
            on_progress=self.progressed.emit,
        )

    def image_source(self) -> ImageSource:
        """The data set of what was described, or else the project's."""
        choice, edits = self._described or self._source
        return ImageSource(choice.key, choice.params, edits_to_plain(edits))

    def _on_browse_asked(self) -> None:
        self._is_browsing_asked = not self.is_described
        if self.is_described:
            self.browse_wanted.emit("")

    def cancel(self) -> None:
        """Ends the reading."""
        self._is_browsing_asked = False
        self._question.cancel()
        self._whole.cancel()

    def _call_off(self) -> None:
        """Ignores the answer to an earlier request."""
        self._timer.stop()
        if self._is_busy:
            self.busy_changed.emit(False)
        self._question.drop()
        self._whole.drop()

    @property
    def _is_busy(self) -> bool:
        return self._question.is_open or self._whole.is_open

    def _on_edits_changed(self) -> None:
        """What is known of the images stays until they are described with the new edits, which many
        edits in a row ask for once. Other classes are another source.
        """
        before, edits = self._described, self._document.project.edits
        is_same = before is not None and before[0] == self._document.project.dataset
        if before is None or not is_same or before[1].classes != edits.classes:
            self._on_source_changed()
            return
        self._call_off()
        self.said.emit("")
        if self._is_shown:
            self._ask_soon()

    def _on_source_changed(self) -> None:
        """Another source, or the document no longer has the facts of this one."""
        self._described, self.description = None, None
        self.exact.forget()
        self.source_changed.emit()
        if self._is_busy and self._asked == self._source:
            return  # the answer is on its way
        self._call_off()
        self.said.emit("")
        if self._is_shown:
            self._ask_soon()

    def _ask_soon(self) -> None:
        choice = self._document.project.dataset
        spec = self.context.datasets.get(choice.key)
        if spec is None or spec.unset(choice.params):
            self.said.emit("Choose a folder or file.")
            self.missing.emit(
                "Choose a folder with one subfolder of pictures per class, or drop one here."
            )
        elif spec.needs_download or spec.addresses(choice.params):
            self.said.emit("These images are downloaded on first use.")
        else:
            self._timer.start()

    def _on_described(self, description: DataDescription) -> None:
        self._described, self.description = self._asked, description
        if self._asked is not None:
            self.exact.take(description, self._asked, self._values)
        if description.is_complete:
            self._keep(description)
        elif self._asked is not None:
            handlers = self._handlers(self._on_whole_failed)
            self._whole.ask(self._request(*self._asked, is_quick=False), handlers)
        self.described.emit(description)
        self._set_facts(description)
        if self._is_browsing_asked:
            self._on_browse_asked()

    def _keep(self, description: DataDescription) -> None:
        self.busy_changed.emit(False)
        self.said.emit("")
        if self._asked is not None and description.looked is not None:
            self._looked = self._asked[0], description.looked

    def _set_facts(self, description: DataDescription) -> None:
        size = tuple(description.typical_size)
        self._document.set_dataset_facts(
            DatasetFacts(
                shape=tuple(description.shape) or None,
                num_classes=len(description.classes),
                title=description.title,
                num_train=description.num_train,
                num_test=description.num_test,
                typical=(*size, description.num_channels) if size else None,
                unreadable=tuple(path for path, _ in description.bad_files),
                has_test=not description.is_test_split_off,
            )
        )

    def _on_whole_failed(self, error: WorkbenchError) -> None:
        self.busy_changed.emit(False)
        self.said.emit(error.what)  # what was listed stays

    def _on_failed(self, error: WorkbenchError) -> None:
        self._described, self.description = None, None
        self.busy_changed.emit(False)
        self.said.emit("")
        self.failed.emit(error)
