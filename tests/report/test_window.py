"""The texts of the model card in the window: their dialog, and that notes leave them alone."""

from __future__ import annotations

from tests.report.documents import written_run
from workbench.gui.train.runs.controller import ModelCardDialog
from workbench.runs.store.notes import (
    CardText,
    RunNotes,
    change_notes,
    read_notes,
    write_words,
)


def test_the_dialog_shows_and_gives_the_texts(qtbot):
    dialog = ModelCardDialog("Run 3", CardText(limits="Daylight only."))
    qtbot.addWidget(dialog)
    assert dialog.fields["limits"].toPlainText() == "Daylight only."
    dialog.fields["ethics"].setPlainText("Photos of pupils.")
    assert dialog.card() == CardText(limits="Daylight only.", ethics="Photos of pupils.")


def test_a_new_title_keeps_the_model_card():
    run = written_run().folder
    change_notes(run, card=CardText(intended_use="Lessons"))
    write_words(run, RunNotes(title="Best"))
    change_notes(run, text="A note")
    assert read_notes(run) == RunNotes(
        title="Best", text="A note", card=CardText(intended_use="Lessons")
    )
