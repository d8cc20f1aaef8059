"""The recipe's form: sections, rows that do not matter, the schedule drawn live."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLineEdit

from tests.gui.combos import shown_text
from tests.looks import wait_until_painted
from tests.written_runs import WrittenRun
from workbench.core.checks.images import DatasetFacts
from workbench.core.projects.project import Project
from workbench.core.training.recipe import RECIPE_PARAMS, TrainingRecipe
from workbench.core.training.schedules import all_schedules
from workbench.gui.kit.buttons import ElidedComboBox
from workbench.gui.train.recipe import RecipePanel, ScheduleCurve, differences, schedule_words
from workbench.gui.train.state import TrainState
from workbench.runs.folder import Extension, create_run


@pytest.fixture
def state(context):
    state = TrainState(context)
    yield state
    state.background.close()


@pytest.fixture
def panel(qtbot, state):
    panel = RecipePanel(state)
    qtbot.addWidget(panel)
    panel.resize(300, 900)
    panel.show()
    return panel


def test_what_is_basic_is_in_sight_and_the_rest_is_folded(panel):
    form = panel.form
    for key in ("optimizer", "loss", "top_k", "learning_rate", "batch_size", "epochs", "schedule"):
        assert form.editor_widget(key).isVisible(), key
    for key in ("label_smoothing", "keep_by", "xla", "validation_share"):
        assert not form.editor_widget(key).isVisible(), key
    titles = ["Split", "Schedule", "Regularization", "Augmentation", "Fine-tuning", "Checkpoints"]
    assert list(form.sections) == [*titles, "Execution"]
    augmented = [param.key for param in RECIPE_PARAMS if param.group == "Augmentation"]
    assert augmented == ["mixing", "mixing_alpha", "random_erasing"]
    form.sections["Checkpoints"].head.click()
    assert form.editor_widget("keep_by").isVisible()


def test_a_test_split_is_set_only_where_images_are_split_off(panel, context):
    """The bundled images have a test set; of others it is known once they are read."""
    document = context.document
    document.set_recipe(validation="split")
    share = panel.form.editor_widget("test_share")
    assert document.dataset_facts.has_test
    assert not panel.form.editor_widget("validation_share").isHidden()
    assert share.isHidden()
    document.set_dataset_facts(DatasetFacts(None, 3, "own", 90, 10))
    assert not share.isHidden()
    document.set_dataset_facts(DatasetFacts(None, 3, "own", 90, 10, has_test=True))
    assert share.isHidden()


def test_the_closed_fold_says_which_weights_are_saved(panel, context):
    fold = panel.form.sections["Checkpoints"]
    assert not fold.is_open
    assert fold.note() == "saves the last epoch"
    context.document.set_recipe(keep="best")
    assert fold.note() == "saves the best epoch"


def test_what_another_run_did_differently_is_above_the_form(qtbot, panel, context):
    run = create_run(Project(recipe=TrainingRecipe(epochs=77)))
    assert (panel.other.note(), panel.other.head.isEnabled()) == ("none", False)
    top = panel.form.geometry().top()
    panel.show_run(run.path)
    qtbot.waitUntil(lambda: panel.other.note() == "1 setting differs")
    assert panel.form.geometry().top() == top  # nothing moves when a run begins
    qtbot.mouseClick(panel.other.head, Qt.MouseButton.LeftButton)
    assert panel.facts.text() == "Epochs: 77"
    assert panel.other.geometry().bottom() < panel.form.geometry().top()
    assert panel.verticalScrollBar().value() == 0
    bottom = panel.take.mapTo(panel.viewport(), QPoint(0, panel.take.height())).y()
    assert bottom < panel.viewport().height()
    qtbot.mouseClick(panel.take, Qt.MouseButton.LeftButton)
    assert context.document.recipe.epochs == 77
    assert (panel.other.note(), panel.same.isVisible()) == ("same settings", True)


def test_the_fields_stay_where_they_are_while_one_is_edited(qtbot, panel, context):
    run = create_run(Project(recipe=context.document.recipe))
    panel.show_run(run.path)
    qtbot.waitUntil(lambda: panel.other.note() != "none")
    field = panel.form.editor_widget("learning_rate")
    before = field.mapTo(panel, QPoint(0, 0))
    context.document.set_recipe(epochs=77, learning_rate=0.5)
    qtbot.waitUntil(lambda: panel.other.note() == "2 settings differ")
    wait_until_painted(qtbot, panel)
    assert field.mapTo(panel, QPoint(0, 0)) == before


def test_the_words_of_every_choice_fit_at_the_width_that_the_panel_opens_with(panel):
    for section in panel.form.sections.values():
        section.head.setChecked(True)
    panel.form.set_unused(set())
    cut = []
    for param in RECIPE_PARAMS:
        box = panel.form.editor_widget(param.key)
        for index in range(box.count() if isinstance(box, ElidedComboBox) else 0):
            box.blockSignals(True)  # looked at, not chosen
            box.setCurrentIndex(index)
            cut += [box.currentText()] if shown_text(box) != box.currentText() else []
    assert cut == []


def test_a_section_says_how_much_of_it_is_set(panel, context):
    section = panel.form.sections["Regularization"]
    assert section.note() == ""
    context.document.set_recipe(label_smoothing=0.1, clip_norm=1.0)
    assert section.note() == "2 not default"
    context.document.undo_stack.undo()
    assert section.note() == ""


@pytest.mark.parametrize(
    ("values", "shown", "hidden"),
    [
        ({}, {"warmup_epochs"}, {"final_share", "decay_factor", "plateau_patience"}),
        ({"schedule": "cosine"}, {"final_share"}, {"decay_factor", "decay_every_epochs"}),
        ({"schedule": "plateau"}, {"decay_factor", "plateau_patience"}, {"final_share"}),
        ({"schedule": "step"}, {"decay_factor", "decay_every_epochs"}, {"plateau_patience"}),
    ],
)
def test_only_rows_that_matter_show(panel, context, values, shown, hidden):
    context.document.set_recipe(**values)
    assert all(panel.form.editor_widget(key).isVisible() for key in shown)
    assert not any(panel.form.editor_widget(key).isVisible() for key in hidden)


def test_typing_a_value_is_an_undoable_step_and_moves_the_curve(panel, context):
    panel.form.value_changed.emit("schedule", "cosine")
    assert context.document.recipe.schedule == "cosine"
    assert "cosine decay to 1e-05" in panel.curve_words.text()
    assert panel.form.sections["Schedule"].note() == "cosine"
    _, last = panel.curve.value_at(panel.curve.width())
    assert last < 0.0001
    context.document.undo_stack.undo()
    assert "then constant" in panel.curve_words.text()


def test_the_batch_of_a_tpu_tutorial_is_typed_as_it_stands_there(panel, context, qtbot):
    field = panel.form.editor_widget("batch_size")
    assert "128 * 8" in field.toolTip()
    line = field if isinstance(field, QLineEdit) else field.findChild(QLineEdit)
    line.selectAll()
    qtbot.keyClicks(line, "128*8")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert context.document.recipe.batch_size == 1024


def test_the_finders_are_asked_for(panel, state, qtbot):
    for button, word in ((panel.find_rate, "learning_rate"), (panel.find_batch, "batch_size")):
        with qtbot.waitSignal(state.find_asked) as emitted:
            button.click()
        assert emitted.args == [word]


def test_differences_leave_out_what_changes_nothing():
    run = TrainingRecipe(decay_factor=0.5, mixing_alpha=1.0, epochs=3)
    assert differences(run, TrainingRecipe()) == [("Epochs", "3")]
    mixed = TrainingRecipe(mixing="cutmix", mixing_alpha=1.0)
    assert differences(mixed, TrainingRecipe()) == [
        ("Mixup / CutMix", "CutMix"),
        ("Mixing alpha", "1"),
    ]


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("schedule", all_schedules())
def test_the_curve_is_drawn_in_the_themes_color(qtbot, context, schedule, mode):
    context.theme.set_mode(mode)
    curve = ScheduleCurve(context.theme)
    qtbot.addWidget(curve)
    curve.resize(220, 116)
    curve.set_recipe(TrainingRecipe(schedule=schedule, epochs=20, warmup_epochs=2.0), 50)
    image = curve.grab().toImage()
    accent = QColor(context.theme.colors.accent)

    def is_line(x, y):
        color = image.pixelColor(x, y)
        return all(
            abs(a - b) < 30 for a, b in zip(color.getRgb()[:3], accent.getRgb()[:3], strict=True)
        )

    heights = [next((y for y in range(116) if is_line(x, y)), None) for x in range(2, 218, 4)]
    assert sum(height is not None for height in heights) > 40
    assert heights[0] is None or heights[0] > 80  # the warm-up starts at the bottom
    assert min(height for height in heights if height is not None) < 24  # and reaches the top
    assert curve.accessibleDescription() == schedule_words(
        TrainingRecipe(schedule=schedule, epochs=20, warmup_epochs=2.0), 50
    )


def test_the_mouse_reads_the_curve(qtbot, context):
    curve = ScheduleCurve(context.theme)
    qtbot.addWidget(curve)
    curve.resize(202, 116)
    curve.set_recipe(
        TrainingRecipe(schedule="step", epochs=20, decay_every_epochs=5.0, learning_rate=1.0), 10
    )
    assert curve.value_at(1 + 50 - 1) == (pytest.approx(4.9), 1.0)
    assert curve.value_at(1 + 50 + 1)[1] == pytest.approx(0.1)
    qtbot.mouseMove(curve, QPoint(60, 50))


def test_each_parameter_of_the_form_is_a_field_of_the_recipe(panel):
    fields = set(asdict(TrainingRecipe()))
    assert {param.key for param in RECIPE_PARAMS} == fields
    for param in RECIPE_PARAMS:
        assert panel.form.editor_widget(param.key).focusPolicy() != Qt.FocusPolicy.NoFocus


def test_a_run_that_is_trained_longer_is_compared_anew(qtbot, panel, context):
    run = WrittenRun("longer", epochs=77).begin().train(1).finish()
    context.library.open()
    panel.show_run(run.path)
    qtbot.waitUntil(lambda: panel.other.note() != "none")
    run.folder.extend(Extension(after=77, before=77, epochs=90))
    WrittenRun.of(run.folder, step=10, resumed_at_step=10, epochs=90).train(1).finish()
    context.library.refresh()
    qtbot.waitUntil(lambda: panel.facts.text() == "Epochs: 90")


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_curve_marks_where_fine_tuning_starts(qtbot, context, mode):
    context.theme.set_mode(mode)
    curve = ScheduleCurve(context.theme)
    qtbot.addWidget(curve)
    curve.resize(222, 116)
    recipe = TrainingRecipe(epochs=10, fine_tuning_after=5, warmup_epochs=0.0)
    tone = QColor(context.theme.colors.fine_tuning)

    def marked():
        image = curve.grab().toImage()
        ratio = image.width() / curve.width()
        columns = range(round(108 * ratio), round(114 * ratio))
        rows = range(round(60 * ratio), round(100 * ratio))
        return sum(image.pixelColor(x, y) == tone for x in columns for y in rows)

    curve.set_recipe(recipe.with_values(fine_tuning_after=None), 20)
    assert marked() == 0
    assert "Fine-tuning" not in curve.accessibleDescription()
    curve.set_recipe(recipe, 20)
    assert marked() > 5
    assert "Fine-tuning from epoch 6, at 1e-05." in curve.accessibleDescription()
    curve.set_recipe(recipe.with_values(fine_tuning_rate=0.01), 20)
    assert max(point.y() for point in curve._points(curve._area())) <= curve._area().bottom()
    assert min(point.y() for point in curve._points(curve._area())) >= curve._area().top() - 1


def test_fine_tuning_has_a_section_of_its_own(panel, context):
    section = panel.form.sections["Fine-tuning"]
    assert not panel.form.editor_widget("fine_tuning_after").isVisible()
    section.head.click()
    for key in ("fine_tuning_after", "feature_cache", "augmented_copies"):
        assert panel.form.editor_widget(key).isVisible(), key
    assert not panel.form.editor_widget("fine_tuning_rate").isVisible()
    context.document.set_recipe(fine_tuning_after=3, epochs=8)
    assert panel.form.editor_widget("fine_tuning_rate").isVisible()
    assert "Fine-tuning from epoch 4" in panel.curve_words.text()


def test_a_learning_rate_that_trains_nothing_is_remarked_on_beside_its_field(panel, context):
    field = panel.form.editor_widget("learning_rate")
    message = panel.form._errors["learning_rate"]
    context.document.set_recipe(learning_rate=15.0)
    assert message.text() == "Learning rate far too high for Adam"
    assert (message.isVisible(), message.property("role")) == (True, "warning")
    assert not field.property("bad")  # it holds
    assert "Learning rate far too high for Adam" in [
        problem.title for problem in context.document.analysis.problems
    ]
    context.document.set_recipe(learning_rate=0.001)
    assert not message.isVisible()
