"""`workbench help`: pages by the words that people know from Keras."""

from __future__ import annotations

import json

import pytest

from workbench.cli import main

WORDS = (
    "sparse_categorical_crossentropy", "steps_per_epoch", "model.summary", "save_weights",
    "load_weights", "validation_freq", "validation_data", "logits", "x_test[111]", "one-hot",
    "callbacks", "model.compile", "model.fit", "model.predict", "evaluate", "InputLayer",
    "categorical_crossentropy", "EarlyStopping", "TPUClusterResolver", "COLAB_TPU_ADDR", "history.history",
)  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_words_of_keras_lead_to_the_page_about_keras(word, capsys):
    assert main(["help", word, "--json"]) == 0
    assert "from_keras" in [each["page"] for each in json.loads(capsys.readouterr().out)]


def test_a_page_is_printed_by_its_key(capsys):
    assert main(["help", "from_keras"]) == 0
    assert capsys.readouterr().out.startswith("# From Keras to Workbench")


def test_all_words_have_to_be_in_a_page(capsys):
    assert main(["help", "early", "stopping", "zebra"]) == 1
    assert "No page contains these words." in capsys.readouterr().err
    assert main(["help", "zebra", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == []
