"""A window with something in every view, and its main dialogs, for looking at them in any size;
no training and no worker is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np
from PIL import Image
from PySide6.QtWidgets import QApplication, QWidget

from tests.written_runs import WrittenRun
from workbench.core.training.learning_rates import LongerTraining
from workbench.core.training.recipe import TrainingRecipe
from workbench.gui.classify.answers import ClassifiedPicture, load_preview
from workbench.gui.data.classes import ClassRow
from workbench.gui.help import AboutDialog, SettingsDialog, ShortcutsSheet, groups_of
from workbench.gui.images.sample_dialog import SampleDialog
from workbench.gui.kit.widgets import CollapsibleSection
from workbench.gui.train.exporting.dialog import ExportDialog
from workbench.gui.train.runs.compare_dialog import CompareRuns
from workbench.gui.train.runs.controller import TrainLongerDialog
from workbench.protocol.classify import Classified, Score
from workbench.protocol.describe_data import ClassDescription, DataDescription, Thumbnail
from workbench.protocol.events import Plan
from workbench.protocol.export import ExportProof
from workbench.protocol.trained.evaluate import ClassScore, Evaluation
from workbench.protocol.weights import KeptWeights
from workbench.runs.export.proof_table import keep_export
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.log.confusion_history import append_confusion
from workbench.runs.model_card import CARD_NAME, WEIGHTS_NAME, ModelCard
from workbench.runs.store.checkpoint import DataMark, TrainerState, this_machine, write_checkpoint
from workbench.runs.store.evaluation import KeptEvaluation, keep_evaluation
from workbench.runs.store.notes import change_notes
from workbench.templates import find_template

CLASSES = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker",
           "Bag", "Ankle boot"]  # fmt: skip
VIEWS = (
    "welcome", "design", "design_problem", "data", "train", "train_classes", "evaluate", "classify",
    "classify_test_set",
)  # fmt: skip
"""Keys of views, some with what is shown in them."""

_END = TrainerState(
    number=1, step=400, epochs_done=40, seconds=12.0, plan=Plan(precision="float32"),
    machine=this_machine({}),
    data=DataMark(num_train=1000, num_validation=100, num_test=200, digest=""),
)  # fmt: skip
"""The checkpoint that a completed run keeps."""


_KEPT = KeptWeights(epoch=32, kind="best", is_averaged=True, is_chosen_on_test=True)


_PROOF = ExportProof(
    format="onnx", path="/a folder/with a long name/of somebody else/model.onnx", bytes=7_800_000,
    checked_pictures=500, max_difference=2.4e-7, top1_agreement=1.0, accuracy=0.8921,
    model_accuracy=0.8921, milliseconds=0.512, peak_bytes=64_000_000, created=1.7e9,
    checksum="earlier",
)  # fmt: skip
_WRONG_PROOF = msgspec.structs.replace(
    _PROOF, format="litert_dynamic", max_difference=None, top1_agreement=0.0, is_noise=True,
    reason="93% of the images get another class", layer="a_layer_with_a_name_as_long_as_it_can_be",
)  # fmt: skip


@dataclass
class Staged:
    """Brings each view of a window into a state with content.

    Args:
        window: The real window, shown; its workers are not used.
        folder: For pictures; new.
        titles: Of the two runs.
        is_named: Whether they are called so in place of their number and what differs.
        classes: Names of the ten classes.
    """

    window: QWidget
    folder: Path
    titles: tuple[str, str] = ("Baseline", "A title that is longer than the list of runs is wide")
    is_named: bool = False
    classes: list[str] = field(default_factory=lambda: CLASSES)

    def stage(self) -> None:
        """Opens a project with two finished runs, and fills what workers would fill."""
        context = self.window.context
        context.service.send = lambda *_words: 0
        context.measurer.send = lambda *_words: 0
        project = find_template("fashion_convnet").project
        context.document.new(project)
        self._write_runs(context.document.project)
        context.library.open()
        while len(context.library.runs) < 2:
            QApplication.processEvents()

    def show(self, view: str) -> QWidget:
        """Brings a view to the front, with content; returns what is to be looked at."""
        self._undo_all()
        shown = self.window.show_view(view.partition("_")[0])
        fill = getattr(self, f"_fill_{view}", None)
        if fill is not None:
            fill(shown)
        return self.window

    def dialogs(self) -> Iterator[tuple[str, Callable[[], QWidget]]]:
        """The main dialogs: name, and what opens it."""
        window = self.window
        self._undo_all()
        for key in ("connect", "preflight", "agreement"):
            yield key, lambda key=key: self._asked(key)
        context, actions = window.context, window.menus.listed()
        yield "settings", lambda: _shown(SettingsDialog(context, context.settings.settings, window))
        yield "shortcuts", lambda: _shown(ShortcutsSheet(groups_of(actions), window))
        yield "about", lambda: _shown(AboutDialog(window))
        yield "help", self._help
        yield "compare", self._compare
        yield "train_longer", self._train_longer
        yield "export", self._export
        yield "sample", self._sample
        yield "problems", lambda: (window.show_problems(), window.popup)[1]
        yield "find_rate", lambda: self._find("find_rate")
        yield "find_batch", lambda: self._find("find_batch")

    def _undo_all(self) -> None:
        """A problem that was made to be looked at goes."""
        self.window.context.document.undo_stack.setIndex(0)

    # content -------------------------------------------------------------------------

    def _write_runs(self, project) -> None:
        card = ModelCard(
            class_names=self.classes,
            input_shape=[28, 28, 1],
            fit="crop",
            graph={},
            checksum="now",
        )
        for title in self.titles:
            folder = create_run(project, title=title)
            run = WrittenRun.of(folder, step=0, resumed_at_step=None, epochs=40)
            run.begin(class_names=self.classes).train(40)
            for epoch in range(1, 41):
                confusion = np.eye(len(self.classes), dtype=np.int64) * (40 + epoch) + 5
                append_confusion(folder, epoch, confusion)
            run.finish()
            if self.is_named:
                change_notes(folder, title=title)
            (folder.path / CARD_NAME).write_bytes(msgspec.json.encode(card))
            (folder.path / WEIGHTS_NAME).write_bytes(b"weights")
            write_checkpoint(folder, _END, {})
            keep_evaluation(folder, _evaluation(self.classes))

    def _fill_design_problem(self, _view) -> None:
        document = self.window.context.document
        flatten = [node.id for node in document.graph.nodes.values() if node.kind == "flatten"]
        if flatten:
            document.remove(flatten)
            dense = next(
                edge for edge in document.graph.edges if edge.target == document.graph.order[-1]
            )
            document.disconnect(dense)
        self.window.show_problem(document.analysis.problems[0])

    def _fill_train(self, view) -> None:
        view.curves.show_page("curves")

    def _fill_train_classes(self, view) -> None:
        view.curves.show_page("classes")

    def _fill_classify_test_set(self, view) -> None:
        self._fill_classify(view)
        view.state.set_picking(is_picking=True)

    def _fill_data(self, view) -> None:
        pictures = [
            Thumbnail(path=self._picture(number), index=number, width=96, height=96)
            for number in range(8)
        ]
        classes = [
            ClassDescription(name=name, num_train=6_000, num_test=1_000, thumbnails=pictures)
            for name in self.classes
        ]
        view.state.described.emit(
            DataDescription(
                title="Fashion-MNIST",
                classes=classes,
                num_train=60_000,
                num_test=10_000,
                shape=[28, 28, 1],
                bad_files=[("/pictures/a file that cannot be read.png", "not an image")],
                notes=["The classes are imbalanced: more images of the rare ones help."],
            )
        )

    def _fill_evaluate(self, view) -> None:
        while view.state.known is None or view.state.latest is None:
            QApplication.processEvents()

    def _fill_classify(self, view) -> None:
        path = self._picture(1)
        names = enumerate(self.classes)
        scores = [Score(name=name, probability=0.5 / 2**at) for at, name in names]
        answer = Classified(
            file=path, label=self.classes[0], scores=scores, milliseconds=6.0, width=4_032,
            height=3_024, input_shape=[28, 28, 1], weights=_KEPT,
        )  # fmt: skip
        image = load_preview(path)
        name = "a photo with a long name from a camera.jpg"
        title, actual = self.titles[0], self.classes[1]
        entry = ClassifiedPicture(answer, name, title, actual, image, image)
        view.state.shown.emit(entry)
        for _ in range(12):
            view.state.classified.emit(entry)

    def _picture(self, number: int) -> str:
        path = self.folder / f"{number}.png"
        if not path.exists():
            pixels = np.random.default_rng(number).integers(0, 255, (96, 96), np.uint8)
            Image.fromarray(pixels).save(path)
        return str(path)

    # dialogs -------------------------------------------------------------------------

    def _asked(self, key: str) -> QWidget:
        self.window.places.ask(key)
        dialog = self.window.places.dialogs[key]
        for fold in dialog.findChildren(CollapsibleSection):
            fold.head.setChecked(True)
        return dialog

    def _help(self) -> QWidget:
        self.window.help.show_page("getting_started")
        return self.window.help._viewer

    def _compare(self) -> QWidget:
        library = self.window.context.library
        first, second = (run.path for run in library.runs[:2])
        dialog = CompareRuns(self.window.context.theme, library.runs, first, second, self.window)
        dialog.show()
        while dialog.comparison is None:
            QApplication.processEvents()
        return dialog

    def _train_longer(self) -> QWidget:
        run = self.window.context.library.runs[0]
        recipe = TrainingRecipe(epochs=40, schedule="cosine", early_stopping_patience=5)
        longer = LongerTraining(recipe, 40, 400, is_stopped_early=True)
        return _shown(TrainLongerDialog(run.label, longer, self.window))

    def _export(self) -> QWidget:
        run = self.window.context.library.runs[0]
        for proof in (_PROOF, _WRONG_PROOF):
            keep_export(RunFolder(run.path), proof)
        self.window.runs.ask_export(run.path)
        dialog = next(each for each in self.window.findChildren(ExportDialog) if each.isVisible())
        while not dialog.table.model().rowCount():
            QApplication.processEvents()
        dialog.table.selectRow(1)
        return dialog

    def _sample(self) -> QWidget:
        view = self.show("data").views.currentWidget()
        view.findChild(ClassRow).chosen.emit(3)
        return view.findChild(SampleDialog)

    def _find(self, name: str) -> QWidget:
        view = self.window.show_view("train")
        getattr(view.panels["train_recipe"], name).click()
        return view.finders.dialog


def _evaluation(classes: list[str]) -> KeptEvaluation:
    """With long words for what it is of."""
    count = len(classes)
    scores = [
        ClassScore(name=name, precision=0.91, recall=0.883, f1=0.896, count=1_000)
        for name in classes
    ]
    result = Evaluation(
        id=1, loss=0.3127, accuracy=0.8921, classes=classes, per_class=scores,
        confusion=(np.eye(count, dtype=int) * 880 + 12).tolist(),
        weights=_KEPT,
        is_validated_on_test=True,
    )  # fmt: skip
    params = {"path": "/pictures/held out by somebody else"}
    return KeptEvaluation(
        result=result, source="folder", params=params, checksum="earlier", created=1.7e9
    )


def _shown(dialog: QWidget) -> QWidget:
    dialog.show()
    return dialog
