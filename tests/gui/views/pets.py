"""Twenty images of cats and dogs, and what a model answered for each of them."""

from __future__ import annotations

import numpy as np

from workbench.pictures.png import write_png
from workbench.protocol.trained.evaluate import ClassScore, Evaluation
from workbench.protocol.weights import KeptWeights
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.store.evaluation import KeptEvaluation, keep_evaluation
from workbench.runs.store.image_scores import ScoredImages, joined_paths

NUM_PETS = 20
ACTUAL = np.array([0] * 5 + [1] * 15, np.int32)
PREDICTED = np.array([0, 0, 0, 1, 1] + [0] * 3 + [1] * 12, np.int32)
WEIGHTS = "ab" * 32

RESULT = Evaluation(
    id=1,
    loss=0.51239,
    accuracy=0.75,
    classes=["cat", "dog"],
    per_class=[
        ClassScore(name="cat", precision=0.9, recall=0.6, f1=0.72, count=5),
        ClassScore(name="dog", precision=0.4, recall=0.8, f1=0.53, count=15),
    ],
    confusion=[[3, 2], [3, 12]],
    weights=KeptWeights(epoch=40),
)


def write_pets(folder):
    """Writes the images into a new folder."""
    folder.mkdir()
    for number in range(NUM_PETS):
        write_png(folder / f"{number}.png", np.full((9, 9, 3), 10 * number, np.uint8))
    return folder


def scored_pets(folder):
    """What was predicted for the images of the folder: the last have the largest loss."""
    paths, lengths = joined_paths(tuple(str(folder / f"{at}.png") for at in range(NUM_PETS)))
    return ScoredImages(
        part=np.zeros(NUM_PETS, np.int8),
        index=np.arange(NUM_PETS, dtype=np.int32),
        actual=ACTUAL,
        predicted=PREDICTED,
        rank=(ACTUAL != PREDICTED).astype(np.int32),
        probability=np.full(NUM_PETS, 0.75, np.float32),
        loss=np.linspace(0, 4, NUM_PETS, dtype=np.float32),
        content=np.repeat(np.arange(NUM_PETS, dtype=np.uint8), 16).reshape(NUM_PETS, 16),
        paths=paths,
        lengths=lengths,
    )


def keep_pets(run, folder):
    """Keeps with a run that it was evaluated on the images of the folder."""
    dataset = {"key": "folder", "params": {"path": str(folder)}}
    shape = {"input_shape": [8, 8, 3], "fit": "crop", "graph": {}}
    card = ModelCard(class_names=["cat", "dog"], dataset=dataset, checksum=WEIGHTS, **shape)
    write_card(run.path, card)
    kept = KeptEvaluation(result=RESULT, created=1.5, checksum=WEIGHTS)
    keep_evaluation(run, kept, scored_pets(folder))


def numbers(panel):
    """Which images a grid shows."""
    return [panel.rows.number(row) for row in range(panel.rows.rowCount())]
