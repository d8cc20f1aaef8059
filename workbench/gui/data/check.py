"""The data check in the data view: its findings, what they show, and what is done about them.

Findings are values of `workbench.core.data_check`. An action makes new `DataEdits`, so undo is
the document's.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QMenu,
    QSizePolicy,
    QSplitter,
    QWidget,
)

from workbench.core.format import plural
from workbench.core.projects.data_edits import (
    MAX_NAME,
    MAX_VERSIONS,
    DataVersion,
    difference_words,
    edits_of_version,
    is_name,
    version_named,
    with_version,
)
from workbench.document.project_document import ProjectDocument
from workbench.errors import WorkbenchError
from workbench.gui.data.finding_views import (
    ROW_PX,
    FindingDelegate,
    FindingDetail,
    FindingRows,
    FoundPictures,
    Room,
    settle_words,
)
from workbench.gui.data.findings import Findings
from workbench.gui.data.state import DataState
from workbench.gui.kit.buttons import SegmentedSwitch, TextButton, button, show_instead
from workbench.gui.kit.dialogs import ask_choice, ask_text
from workbench.gui.kit.labels import plain_label, plain_tip, set_role
from workbench.gui.kit.layout import STRETCH, add_to, row
from workbench.gui.kit.widgets import Box, SteadyBar
from workbench.protocol.messages import Progress

# versions ------------------------------------------------------------------------------------
# The button of the data edits' named versions: save one, go back to one, delete one.

_TIP = (
    "Keeps what was edited about the images by a name, such as “before relabeling”, to go back to. "
    "Versions are in the project file."
)
_TITLE = "Save version of the data edits"
_GONE = "The data edits of now stay as they are. Undo does not bring a version back."


class VersionsButton(TextButton):
    """Opens a menu that is made when it is opened: each version with what differs from now."""

    def __init__(self, document: ProjectDocument) -> None:
        super().__init__("Versions")
        self._document = document
        self.setToolTip(plain_tip(_TIP))
        self.menu_ = QMenu(self)
        self.menu_.setToolTipsVisible(True)
        self.menu_.aboutToShow.connect(self.fill)
        self.setMenu(self.menu_)

    def fill(self) -> None:
        """Lists the versions as they are now, the newest first."""
        self.menu_.clear()
        versions = self._document.project.data_versions
        save = self.menu_.addAction("Save version…", self.ask_name)
        save.setEnabled(len(versions) < MAX_VERSIONS)
        if versions:
            self.menu_.addSeparator()
        for version in reversed(versions):
            self._add(version)

    def _add(self, version: DataVersion) -> None:
        now = self._document.project.edits
        differs = difference_words(version.edits, now)
        words = f"{version.name}, {version.date[:10]}: " + (
            f"different: {differs}" if differs else "as now"
        )
        entry = self.menu_.addMenu(words.replace("&", "&&"))
        back = entry.addAction("Go back to this version", partial(self.use, version.name))
        back.setEnabled(bool(differs))
        entry.addAction("Delete version", partial(self.delete, version.name))

    def ask_name(self) -> None:
        """Asks for the name of a version, and saves it."""
        name = (ask_text(self.window(), _TITLE, "Name:") or "").strip()[:MAX_NAME]
        if is_name(name):
            self.save(name)

    def save(self, name: str) -> None:
        """Keeps the present edits by a name."""
        project = self._document.project
        versions = with_version(project.data_versions, name, project.edits)
        self._document.set_data_versions(versions)

    def use(self, name: str) -> None:
        """Goes back to the edits of a version; one step of Undo."""
        project = self._document.project
        version = version_named(project.data_versions, name)
        if version is not None:
            edits = edits_of_version(version, project.edits)
            self._document.set_edits(edits, f"Go back to version “{name}”")

    def delete(self, name: str) -> None:
        """Forgets a version, once that is confirmed: Undo does not bring it back."""
        choices = ("Delete version", "Cancel")
        if ask_choice(self.window(), f"Delete version “{name}”?", _GONE, choices, default=1) != 0:
            return
        versions = self._document.project.data_versions
        others = tuple(each for each in versions if each.name != name)
        self._document.set_data_versions(others)


# panel ---------------------------------------------------------------------------------------
# The panel of the data check: a line with what it has found, and below it, when it is opened, the
# findings in place of the contents of the source.

_NARROW_PX = 640
"""Below this width the finding is below the list."""

_LOW_PX = 600
"""Below this height a finding below the list has room for its words and buttons alone."""

_LIST_SHARE = 0.55

_EMPTY = (
    "Not checked yet. The check finds duplicates, leaks between training and test, files that "
    "cannot be read, and more. No file is changed."
)
_AWAITED = "The images are checked as soon as they are read."
_LABELS_TIP = (
    "Compares the images by the features of a pretrained network, and lists those that resemble "
    "another class more than their own. This takes longer."
)
_SHOW, _HIDE = "Show findings", "Hide findings"


class DataCheckPanel(Box):
    """The check of the project's data.

    Attributes:
        findings: What it shows.
        list: The findings that are open, or those that are settled.
        detail: The finding that is chosen in the list.
    """

    def __init__(self, state: DataState) -> None:
        super().__init__("card", 16, 8)
        self._state = state
        theme = state.context.theme
        self.findings = Findings(state)
        self._pictures = FoundPictures(state)
        self.summary = plain_label(role="dim", wrap=True)
        self.progress = SteadyBar()
        self.check_button = button("Check images", icon="rescan", theme=theme)
        self.labels_button = button("Check labels")
        self.labels_button.setToolTip(plain_tip(_LABELS_TIP))
        self.cancel_button = button("Cancel")
        self.versions = VersionsButton(state.context.document)
        self.open_button = button(_SHOW)
        self.switch = SegmentedSwitch((("open", "Open"), ("settled", "Settled")))
        self.rows = FindingRows(self.findings, self)
        self.list = self._list()
        self.detail = FindingDetail(self.findings, self._pictures, theme)
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        for part in (self.list, self.detail):
            self._splitter.addWidget(part)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setHandleWidth(8)
        self._splitter.setStyleSheet("QSplitter::handle { background: transparent; }")
        self.hint = plain_label(role="dim", wrap=True)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._build()
        self._connect()
        self._failure = ""
        self._is_divided = False
        self.set_open(is_open=False)
        self._on_replaced()
        self._on_busy_changed(is_busy=False)

    def _list(self) -> QListView:
        view = QListView()
        view.setModel(self.rows)
        theme = self._state.context.theme
        view.setItemDelegate(FindingDelegate(self.findings, self._pictures, theme, view))
        view.setUniformItemSizes(True)
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setAccessibleName("Findings")
        view.setFrameShape(QFrame.Shape.NoFrame)
        view.setMouseTracking(True)
        view.setMinimumSize(200, 2 * ROW_PX)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        return view

    def _build(self) -> None:
        buttons = row(self.check_button, self.labels_button, self.cancel_button, spacing=8)
        head = row(plain_label("Data check", role="heading"), STRETCH, buttons)
        found = row((self.summary, 1), self.versions, self.open_button, spacing=8)
        add_to(self.column, head, found, self.progress)
        self.column.addLayout(row(self.switch, STRETCH))
        self.column.addWidget(self._splitter, 1)
        self.column.addWidget(self.hint, 1)

    def _connect(self) -> None:
        findings = self.findings
        self.check_button.clicked.connect(self._check)
        self.labels_button.clicked.connect(self._check_labels)
        self.cancel_button.clicked.connect(findings.cancel)
        self.open_button.clicked.connect(lambda: self.set_open(is_open=not self.is_open))
        self.switch.chosen.connect(self._show_states)
        findings.replaced.connect(self._on_replaced)
        findings.states_changed.connect(self._on_states_changed)
        findings.busy_changed.connect(self._on_busy_changed)
        findings.progressed.connect(self._on_progressed)
        findings.failed.connect(self._on_failed)
        self._pictures.arrived.connect(self.list.viewport().update)
        self._state.context.theme.changed.connect(self.list.viewport().update)
        for changed in (self.list.selectionModel().currentChanged,
                        self.list.selectionModel().selectionChanged):  # fmt: skip
            changed.connect(lambda *_: self._show_chosen())
        self.rows.modelReset.connect(self._put_buttons)
        self._state.failed.connect(self._on_source_failed)
        self._state.check_asked.connect(self._on_asked)
        self._state.context.findings.wanted.connect(lambda: self.set_open(is_open=True))
        for changed in (self._state.source_changed, self._state.described):
            changed.connect(self._show_head)

    def _on_asked(self, labels: bool) -> None:  # noqa: FBT001 - Qt's signal
        if labels:
            self.labels_button.click()
        elif not self.findings.is_busy:
            self.check_button.click()

    def _check(self) -> None:
        """Checks once more as before: what was looked for is looked for again."""
        report = self.findings.report
        self.findings.check(labels=report is not None and report.has_checked_labels)

    def _check_labels(self) -> None:
        self.findings.check(labels=True)

    # opening -----------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Whether the findings are listed."""
        return not self.switch.isHidden()

    def set_open(self, *, is_open: bool) -> None:
        """Lists the findings in place of the contents of the source, or hides them."""
        self.switch.setVisible(is_open)
        policy = QSizePolicy.Policy
        self.setSizePolicy(policy.Preferred, policy.Expanding if is_open else policy.Preferred)
        self.open_button.setText(_HIDE if is_open else _SHOW)
        self._state.set_findings_shown(is_shown=is_open)
        self._show_states("open")
        if is_open and not self._is_divided:
            self._is_divided = True  # from then on as the user divides it
            QTimer.singleShot(0, self._divide)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = self.width() < _NARROW_PX
        ways = Qt.Orientation
        way = ways.Vertical if is_narrow else ways.Horizontal
        low: Room = "none" if self.height() < _LOW_PX else "low"
        for pictures in (self.detail.pictures, self.detail.nearest):
            pictures.set_room(low if is_narrow else "full")
        if way != self._splitter.orientation():
            self._splitter.setOrientation(way)
            QTimer.singleShot(0, self._divide)

    def _divide(self) -> None:
        """The list has a little more than half of the room."""
        room = self._splitter.size()
        is_across = self._splitter.orientation() == Qt.Orientation.Horizontal
        whole = room.width() if is_across else room.height()
        self._splitter.setSizes([round(_LIST_SHARE * whole), round((1 - _LIST_SHARE) * whole)])

    # what is shown -----------------------------------------------------------------------

    def _show_states(self, key: str) -> None:
        self.switch.set_current(key)
        self.rows.show_states(*(("open",) if key == "open" else ("fixed", "kept")))
        self._choose_near(0)

    def _on_replaced(self) -> None:
        if not self.findings.found:
            self._pictures.clear()
        self._failure = ""
        self._refresh()

    def _on_states_changed(self) -> None:
        self._refresh()
        self.list.viewport().update()

    def _refresh(self) -> None:
        """Lists what there is now; what is chosen stays, or the finding that follows it."""
        place = max(0, self.list.currentIndex().row())
        row_ = self.rows.row(self.list.currentIndex())
        chosen = row_.number if row_ is not None else -1
        scrolled = self.list.verticalScrollBar().value()
        self.rows.refresh()
        kept = self.rows.place_of(chosen) if chosen >= 0 else -1
        self._choose_near(place if kept < 0 else kept)
        self.list.verticalScrollBar().setValue(scrolled)
        self._show_chosen()
        self._show_head()

    def _choose_near(self, place: int) -> None:
        """Chooses the first finding from a row on, else the last row."""
        number = self.rows.rowCount()
        places = range(min(place, number), number)
        rows = ((at, self.rows.row(self.rows.index(at))) for at in places)
        at = next((at for at, row_ in rows if row_ is not None and row_.number >= 0), number - 1)
        self.list.setCurrentIndex(self.rows.index(at) if number else QModelIndex())
        self._show_chosen()

    def _put_buttons(self) -> None:
        """Each heading has a button that settles all that is below it."""
        for place in range(self.rows.rowCount()):
            index = self.rows.index(place)
            row_ = self.rows.row(index)
            if row_ is None or row_.number >= 0 or self.rows.states_key != "open":
                continue
            found = [self.findings.found[number] for number in row_.rule.numbers]
            words = settle_words([finding.actions[0] for finding in found])
            if words:
                self.list.setIndexWidget(index, self._heading_button(words, row_.rule.numbers))

    def _heading_button(self, words: str, numbers: tuple[int, ...]) -> QWidget:
        holder = QWidget()
        settle = button(words.replace("&", "&&"))
        settle.setToolTip(plain_tip(f"{words}: one step of Undo"))
        settle.clicked.connect(partial(self.findings.apply_to_all, numbers))
        row(STRETCH, settle, parent=holder, margins=(0, 0, 10, 0))
        holder.setFixedHeight(ROW_PX)
        return holder

    def _on_source_failed(self, _error: WorkbenchError) -> None:
        """Why the images cannot be read is where their contents are: findings do not hide it."""
        if self.is_open:
            self.set_open(is_open=False)

    def _chosen_numbers(self) -> list[int]:
        """The findings that are selected; those of a heading are selected with it."""
        rows = [self.rows.row(index) for index in self.list.selectionModel().selectedIndexes()]
        numbers = {each.number for each in rows if each is not None and each.number >= 0}
        headings = (each.rule for each in rows if each is not None and each.number < 0)
        if len(rows) > 1:
            numbers.update(number for rule in headings for number in rule.numbers)
        return sorted(numbers)

    def _show_chosen(self) -> None:
        row_ = self.rows.row(self.list.currentIndex())
        self._splitter.setVisible(self.is_open and row_ is not None)
        self.hint.setVisible(self.is_open and row_ is None)
        self.hint.setText(self._empty_words())
        chosen = self._chosen_numbers()
        if row_ is None:
            self.detail.show_nothing()
        elif len(chosen) > 1:
            self.detail.show_several(chosen)
        elif row_.number < 0:
            self.detail.show_rule(row_.rule)
        else:
            self.detail.show_finding(row_.number)

    def _empty_words(self) -> str:
        if self.findings.report is None:
            is_coming = self.findings.is_busy or self.findings.is_awaited
            return "" if is_coming else _EMPTY
        if self.rows.states_key == "open":
            return "No finding is open."
        return "Nothing has been settled yet. What you do about a finding is listed here."

    def _show_head(self) -> None:
        findings = self.findings
        for each in (self.check_button, self.labels_button):
            each.setEnabled(findings.can_check)
        self.open_button.setEnabled(bool(findings.found) or self.is_open)
        self.check_button.setText("Check again" if findings.report else "Check images")
        if not findings.is_busy:
            self.summary.setText(self._failure or self._summary())
            set_role(self.summary, "bad" if self._failure else "dim")

    def _summary(self) -> str:
        findings = self.findings
        if not findings.can_check:
            return "Choose images first."
        if findings.is_awaited:
            return _AWAITED
        if findings.report is None:
            return f"{findings.tally.words}; the check was ended." if findings.found else _EMPTY
        checked = f"{plural(findings.report.num_images, 'image')} checked."
        checked = " ".join([checked, *findings.report.notes])
        return f"{findings.tally.words}. {checked}" if findings.found else f"No findings. {checked}"

    # while it is checked -----------------------------------------------------------------

    def _on_busy_changed(self, is_busy: bool) -> None:  # noqa: FBT001 - Qt's signal
        buttons = (self.cancel_button, self.check_button)
        show_instead(*(buttons if is_busy else reversed(buttons)))
        self.labels_button.setVisible(not is_busy)
        self.progress.setVisible(is_busy)
        self.progress.setRange(0, 0)
        if is_busy:
            self._failure = ""
            set_role(self.summary, "dim")
            self.summary.setText("Checking the images…")
        self._show_head()

    def _on_progressed(self, progress: Progress) -> None:
        self.summary.setText(progress.text)
        if progress.fraction is not None:
            self.progress.setRange(0, 1000)
            self.progress.setValue(round(progress.fraction * 1000))

    def _on_failed(self, error: WorkbenchError) -> None:
        self._failure = error.what
        self._show_head()
