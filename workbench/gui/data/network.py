"""Which network is trained on the project's images: shown, and chosen.

Which one suits the images is decided in `workbench.starter`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from workbench.backbones import all_backbones, has_weights
from workbench.core.format import bytes_text
from workbench.core.network.graph import Graph
from workbench.core.projects.project import Project
from workbench.core.specs import BackboneSpec, DownloadedWeights
from workbench.datasets.folder import SPEC as FOLDER
from workbench.errors import WorkbenchError
from workbench.gui.common.weights import DownloadWeightsDialog
from workbench.gui.data.state import DataState
from workbench.gui.kit.buttons import ElidedButton, button
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, add_to, row
from workbench.gui.kit.widgets import Box, WaitLabel
from workbench.starter import DataFacts, folder_facts, start_on, usual_backbone, with_backbone

# present -------------------------------------------------------------------------------------
# What a project's network starts with: pretrained weights of one backbone, or none. Qt-free.

FROM_SCRATCH = "From scratch"


def backbones_of(graph: Graph) -> list[BackboneSpec]:
    """The backbones whose weights a network starts with, as far as this version has them."""
    keys = {node.pretrained.partition("/")[0] for node in graph.nodes.values() if node.pretrained}
    return [spec for key, spec in all_backbones().items() if key in keys]


def network_words(graph: Graph) -> str:
    """What a network starts with: "MobileNet, pretrained", "From scratch"."""
    if not graph.nodes:
        return "No network"
    titles = [spec.title for spec in backbones_of(graph)]
    return f"{' and '.join(titles)}, pretrained" if titles else FROM_SCRATCH


def reason_of(project: Project) -> str:
    """Why the project was started with its network; "" where it has another one by now, or was not
    started from images.
    """
    named = {spec.title for spec in all_backbones().values() if spec.title in project.summary}
    # The longest title that fits is the one that is meant: some titles begin with another.
    named -= {short for short in named for title in named if short != title and short in title}
    present = {spec.title for spec in backbones_of(project.graph)}
    return project.summary if present == named and project.graph.nodes else ""


# box -----------------------------------------------------------------------------------------
# The network that is trained on the images, the reason, and other ones to choose.

_TO_SCRATCH, _TO_PRETRAINED = "Train from scratch instead", "Use a pretrained network instead"
_NO_WHY = {
    True: "Its layers and its head are shown in the Design view.",
    False: "Its layers start with random weights; they are shown in the Design view.",
}
_EMPTY = "Choose a network that fits these images, or build one in the Design view."


class NetworkBox(Box):
    """The step from images to training.

    Attributes:
        chooser: Says which network it is; its menu has the others.
        other: From scratch instead of pretrained, or back.
        reason: Why this network was chosen.
    """

    def __init__(self, state: DataState) -> None:
        super().__init__("card", 16, 8)
        self._state = state
        self._document = state.context.document
        self._counts = self._document.project.dataset, ""
        self.chooser = ElidedButton("", icon="core", theme=state.context.theme)
        self.chooser.setAccessibleName("Network")
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self._menu.aboutToShow.connect(self._fill_menu)
        self.chooser.setMenu(self._menu)
        self.other = button("", role="link")
        self.other.clicked.connect(lambda _=False: self._take_other())
        self.reason = plain_label(role="dim", wrap=True)
        self.wait = WaitLabel()
        line = row(self.chooser, self.other, STRETCH, spacing=12)
        add_to(self.column, line, self.reason, self.wait)
        self.wait.hide()
        document = self._document
        for changed in (document.analysis_changed, document.project_replaced):
            changed.connect(self._refresh)
        for known in (state.described, state.source_changed):
            known.connect(self._refresh)
        self._refresh()

    # what is shown -------------------------------------------------------------------------

    def _refresh(self) -> None:
        project = self._document.project
        graph = project.graph
        words = network_words(graph)
        is_pretrained = bool(backbones_of(graph))
        self.chooser.set_look(words, role="", icon="core")
        self.chooser.setToolTip(plain_tip(f"{words}. Click to choose another network."))
        self.reason.setText(self._reason(is_pretrained=is_pretrained))
        self.other.setText(_TO_SCRATCH if is_pretrained else _TO_PRETRAINED)
        self.other.setVisible(bool(graph.nodes) and (is_pretrained or self._is_worth_it()))
        self.chooser.setEnabled(self._is_known)
        self.other.setEnabled(self._is_known)

    def _reason(self, *, is_pretrained: bool) -> str:
        """Why this network, behind the counts of the images as they are with the edits."""
        project = self._document.project
        if not project.graph.nodes:
            return _EMPTY
        why, found = reason_of(project), self._state.description
        if found is not None:
            self._counts = project.dataset, DataFacts.of(project.dataset, found).words
        # Until an edit is counted the counts stay, so that the sentence does not jump.
        words = self._counts[1] if self._counts[0] == project.dataset else ""
        counted = f"{words}. {why}" if words else why
        return counted if why else _NO_WHY[is_pretrained]

    @property
    def _is_known(self) -> bool:
        """Whether enough is known of the images to choose a network by."""
        project = self._document.project
        is_counted = project.dataset.key == FOLDER.key and not project.edits
        return self._state.description is not None or is_counted

    def _is_worth_it(self) -> bool:
        """Whether a pretrained network fits the images."""
        found = self._state.description
        choice = self._document.project.dataset
        return found is not None and usual_backbone(DataFacts.of(choice, found)) is not None

    def _fill_menu(self) -> None:
        self._menu.clear()
        present = backbones_of(self._document.graph)
        for spec in all_backbones().values():
            action = self._menu.addAction(f"{spec.title} (pretrained), {_where(spec)}")
            action.setToolTip(plain_tip(spec.summary))
            self._set_up(action, spec, is_present=present == [spec])
        self._menu.addSeparator()
        is_scratch = bool(self._document.graph.nodes) and not present
        self._set_up(self._menu.addAction(FROM_SCRATCH), None, is_present=is_scratch)

    def _set_up(self, action: QAction, spec: BackboneSpec | None, *, is_present: bool) -> None:
        action.setCheckable(True)
        action.setChecked(is_present)
        action.triggered.connect(partial(self._choose, spec))

    # choosing ------------------------------------------------------------------------------

    def _take_other(self) -> None:
        if backbones_of(self._document.graph):
            self._choose(None)
        else:
            self._work(lambda facts, _: start_on(facts, usual_backbone(facts)).summarized)

    def _choose(self, spec: BackboneSpec | None) -> None:
        """Takes a backbone, whose weights are downloaded before where they are missing."""
        if spec is not None and not has_weights(spec):
            dialog = DownloadWeightsDialog(spec, self._state.context.measurer, self)
            dialog.fetched.connect(partial(self._take, spec))
            dialog.open()
        else:
            self._take(spec)

    def _take(self, spec: BackboneSpec | None) -> None:
        def chosen(facts: DataFacts, project: Project) -> Project:
            started = start_on(facts, spec).summarized
            if spec is None or len(backbones_of(project.graph)) != 1:
                return started
            changed = with_backbone(project, spec, facts.num_images)
            return replace(changed, summary=started.summary)

        self._work(chosen)

    def _work(self, choose: Callable[[DataFacts, Project], Project]) -> None:
        """Works out another network in a thread, and takes it if the project is still the same."""
        project, found = self._document.project, self._state.description

        def work() -> Project:
            if found is not None:
                return choose(DataFacts.of(project.dataset, found), project)
            return choose(folder_facts(project.dataset), project)

        def take(changed: Project) -> None:
            self._say("")
            if project == self._document.project:
                text = f"Use {network_words(changed.graph)}"
                self._document.use_network(changed, text.replace(FROM_SCRATCH, "a new network"))

        self._say("Choosing the network")
        self._state.background.run(work, take, self._on_failed)

    def _on_failed(self, error: WorkbenchError) -> None:
        self._say("")
        self.wait.show()
        self.wait.say(error.what, is_bad=True)

    def _say(self, words: str) -> None:
        self.wait.setVisible(bool(words))
        (self.wait.wait_for if words else self.wait.say)(words)


def _where(spec: BackboneSpec) -> str:
    """Place of its weights, in words. Looks at the disk."""
    weights = spec.weights
    if not isinstance(weights, DownloadedWeights):
        return "included"
    return "downloaded" if has_weights(spec) else f"downloads {bytes_text(weights.num_bytes)}"
