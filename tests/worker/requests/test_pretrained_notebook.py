"""A project with pretrained layers as a notebook: it starts as a run does here, trains the same
layers in the same phases, and comes back with the same curve.
"""

from __future__ import annotations

import itertools
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.worker.requests.conftest import Away, run_cells
from workbench.assets import data_path
from workbench.backbones import all_backbones, insert_backbone
from workbench.core.network.graph import Edge, Graph, Node, keras_names
from workbench.core.network.roles import learning_from
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import project_text
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers
from workbench.protocol.events import EpochFinished, RunStarted
from workbench.protocol.weights import LoadWeights
from workbench.runs.folder import RunFolder
from workbench.runs.log.event_log import read_all
from workbench.runs.log.history import MetricHistory
from workbench.runs.store.weights_file import read_arrays
from workbench.worker.model.build import pretrained_arrays

pytestmark = [
    pytest.mark.worker,
    pytest.mark.timeout(900),
    # Keras writes weights by a way of NumPy's that is to go.
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]

SHAPE = (64, 64, 3)
KEY = "mobilenet"
NUM_TRAIN, NUM_TEST = 12, 6
TUNED_FROM = "conv_pw_12"

RECIPE = {
    "epochs": 5,
    "fine_tuning_after": 3,
    "fine_tuning_rate": 0.002,
    "learning_rate": 0.02,
    "schedule": "cosine",
    "batch_size": 2 * NUM_TRAIN,  # all of them: their order does not count
    "validation": "test",
    "split": "order",
    "precision": "float32",
    "xla": "off",
}
STEEP = {"epochs": 9, "fine_tuning_after": 6, "learning_rate": 0.4, "keep_by": "val_loss"}
"""A rate so high that the validation loss does not fall in every epoch."""


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """A folder of flower photos, small and square, in the folders train and test."""
    folder = tmp_path_factory.mktemp("flowers")
    with zipfile.ZipFile(data_path("flowers1000.zip")) as archive:
        for name in ("daisy", "tulips"):
            files = [file for file in archive.namelist() if f"/{name}/" in f"/{file}"]
            files = [file for file in files if file.endswith(".jpg")][: NUM_TRAIN + NUM_TEST]
            assert len(files) == NUM_TRAIN + NUM_TEST
            for number, file in enumerate(files):
                part = folder / ("train" if number < NUM_TRAIN else "test") / name
                part.mkdir(parents=True, exist_ok=True)
                with archive.open(file) as opened, Image.open(opened) as image:
                    image.convert("RGB").resize(SHAPE[:2]).save(part / f"{number}.png")
    return folder


def project_of(photos: Path, *front, **recipe) -> Project:
    """MobileNet, fine-tuned from a late layer on, with a head that is trained from the start."""
    nodes = [Node("n1", "input", "image", {"shape": SHAPE})]
    nodes += [Node(f"f{i}", kind, kind, params) for i, (kind, params) in enumerate(front)]
    edges = [Edge(a.id, b.id) for a, b in itertools.pairwise(nodes)]
    found = insert_backbone(Graph.of(nodes, edges), all_backbones()[KEY], nodes[-1].id, SHAPE)
    penalty = {"kernel_l2": 0.01} if recipe.pop("penalty", False) else {}
    head = Node("head", "dense", "head", {"units": 2, "activation": "softmax", **penalty})
    graph = found.graph.with_node(head).with_edge(Edge(found.last, "head"))
    first = next(key for key, node in graph.nodes.items() if node.name == TUNED_FROM)
    graph = learning_from(graph, first, "fine_tuning", all_layers())
    dataset = Choice("folder", {"path": str(photos)})
    return Project(
        graph, TrainingRecipe().with_values(**{**RECIPE, **recipe}), dataset, title="Flowers"
    )


def exported(away: Away, project: Project, name: str) -> Path:
    """A program in a folder of its own, with its weights and its images."""
    folder = away.folder / f"of_{name}"
    folder.mkdir()
    return away.export(project, folder / name)


def run_there(program: Path, photos: Path):
    """Some photos, and what `notebook_cells` writes of a program of two phases."""
    some = np.stack([np.asarray(Image.open(path)) for path in sorted(photos.rglob("*.png"))[:4]])
    np.save(program.parent / "pictures.npy", some)
    run_cells(program, 1, "phases", "pictures.npy", "weights.npz")
    with np.load(program.parent / "weights.npz") as file:
        return some, dict(file)


def read_back(away: Away, project: Project, program: Path) -> RunFolder:
    result = str(program.parent / "workbench_result.zip")
    return RunFolder(
        Path(away.done(LoadWeights, project=project_text(project), weights=result).path)
    )


def epochs_of(events):
    return [event for event in events if isinstance(event, EpochFinished)]


def assert_same_curve(there, here):
    for key in ("epoch", "step"):
        assert [getattr(e, key) for e in there] == [getattr(e, key) for e in here]
    for key in ("loss", "val_loss", "accuracy", "val_accuracy"):
        expected = [getattr(e, key) for e in here]
        received = [getattr(e, key) for e in there]
        np.testing.assert_allclose(received, expected, rtol=2e-3, atol=2e-4, err_msg=key)


def test_a_notebook_of_two_phases_is_a_run_of_ours(away, photos, train_here):
    project = project_of(photos)
    program = exported(away, project, "flowers.ipynb")
    some, weights = run_there(program, photos)

    # It starts as the trainer's network does.
    from workbench.worker.model.build import build_model

    ours = build_model(project.graph, all_layers(), seed=project.recipe.seed)
    x = some.astype(np.float32)
    for _, layer in ours.pipeline:
        x = layer(x, training=False)
    answers = np.asarray(ours.model(x, training=False))
    np.testing.assert_allclose(weights["answers"], answers, atol=1e-5)

    # Only what learns in a phase changes in it.
    names = {key.split("/", 1)[1] for key in weights if key.startswith("start/")}
    changed = {
        phase: {n for n in names if (weights[f"{a}/{n}"] != weights[f"{phase}/{n}"]).any()}
        for a, phase in (("start", "head"), ("head", "end"))
    }
    tuned = {name for name in names if name.startswith("tuned_")}
    head = {name for name in names if name.startswith("dense")}
    assert len(tuned) == sum(
        bool(node.pretrained) for node in project.graph.nodes.values() if node.training != "never"
    )
    assert changed == {"head": head, "end": head | tuned}

    # It comes back with one curve, the phases marked.
    run = read_back(away, project, program)
    events, history = read_all(run.events_path), MetricHistory()
    history.add_all(events)
    (started,) = (event for event in events if isinstance(event, RunStarted))
    assert (started.fine_tuning_after, started.keep) == (3, "last")
    here = train_here(project)
    assert_same_curve(epochs_of(events), here.all(EpochFinished))
    theirs = MetricHistory()
    theirs.add_all(here.events)
    for key in ("fine_tuning_step", "steps_per_epoch"):
        curves = [getattr(each.series(_loss()), key) for each in (history, theirs)]
        assert curves[0] == curves[1] == {"fine_tuning_step": 3.0, "steps_per_epoch": 1}[key]

    # Frozen weights are those of the backbone, to the bit.
    arrays, pretrained = read_arrays(run.weights_path), pretrained_arrays(KEY)
    kept, layer_names = 0, keras_names(project.graph)
    for key, node in project.graph.nodes.items():
        if not node.pretrained:
            continue
        for variable, array in pretrained[node.pretrained.partition("/")[2]].items():
            is_same = np.array_equal(arrays[f"{layer_names[key]}/{variable}"], array)
            assert is_same is (node.training == "never")
            kept += is_same
    assert kept > 50


def _loss():
    from workbench.curves import all_curves

    return all_curves()["loss"]


@pytest.mark.full
@pytest.mark.parametrize(
    ("cores", "recipe"),
    [
        (2, {"ema_decay": 0.6, "keep": "best", "penalty": True, "clip_norm": 0.5}),
        (1, {**STEEP, "schedule": "plateau", "plateau_patience": 1, "decay_factor": 0.3}),
        (1, {**STEEP, "schedule": "constant", "keep": "best", "early_stopping_patience": 1}),
    ],
)  # fmt: skip
def test_what_follows_the_epochs_does_so_in_each_phase(away, photos, train_here, cores, recipe):
    project = project_of(photos, **recipe)
    program = exported(away, project, f"{recipe.get('schedule', 'cosine')}.py")
    np.save(program.parent / "pictures.npy", np.zeros((1, *SHAPE), np.uint8))
    run_cells(program, cores, "pictures.npy", "answers.npy")
    run = read_back(away, project, program)
    there = epochs_of(read_all(run.events_path))
    trained = train_here(project)
    here = trained.all(EpochFinished)
    assert_same_curve(there, here)
    card, expected = run.model_card(), trained.run.model_card()
    assert (card.kept_epoch, card.epochs_done) == (expected.kept_epoch, expected.epochs_done)
    assert card.test.loss == pytest.approx(expected.test.loss, rel=2e-3)
    if project.recipe.schedule == "plateau":
        rates = [epoch.learning_rate for epoch in there]
        assert rates == pytest.approx([epoch.learning_rate for epoch in here])
        assert rates[5] < rates[0]  # it fell in the first phase
        assert rates[6] == pytest.approx(0.002)  # and fine-tuning has its own
    if project.recipe.early_stopping_patience:
        numbers = [epoch.epoch for epoch in there]
        assert 6 not in numbers  # the head ended early
        assert 7 in numbers


@pytest.mark.full
def test_augmentation_and_measured_normalization_start_as_they_were(away, photos):
    """Layers that run on the host keep what they have measured when the weights are loaded."""
    front = [("normalization", {}), ("random_flip", {"mode": "horizontal"})]
    project = project_of(photos, *front, epochs=2, fine_tuning_after=1, mixing="mixup")
    program = exported(away, project, "front.ipynb")
    _, weights = run_there(program, photos)
    (name,) = {
        key.split("/")[1] for key in weights if "normalization/" in key and "batch" not in key
    }
    x = np.stack([np.asarray(Image.open(path)) for path in (photos / "train").rglob("*.png")])
    np.testing.assert_allclose(weights[f"start/{name}/0"], x.mean((0, 1, 2)), rtol=1e-4)
    run = read_back(away, project, program)
    there = run.model_card().test
    history = json.loads(
        zipfile.ZipFile(program.parent / "workbench_result.zip").read("history.json")
    )
    assert there.count == 2 * NUM_TEST
    assert there.loss == pytest.approx(history["test"]["loss"])


@pytest.mark.full_but("cut")
@pytest.mark.parametrize("damage", ["cut", "other"])
def test_a_file_of_weights_that_does_not_fit_is_named(away, photos, damage):
    program = exported(away, project_of(photos), f"{damage}.ipynb")
    weights = program.with_name(f"{damage}.pretrained.weights.h5")
    if damage == "cut":
        weights.write_bytes(weights.read_bytes()[:100_000])
    else:
        import keras

        keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)]).save_weights(weights)
    with pytest.raises(AssertionError) as caught:
        run_cells(program, 1, "trace", "faults.json")
    assert f"{weights.name} is damaged or belongs to another network" in str(caught.value)


@pytest.mark.full
def test_both_phases_are_traced_for_a_tpu_of_eight_cores(away, photos):
    project = project_of(photos, precision="bfloat16", ema_decay=0.9, batch_size=16, penalty=True)
    program = exported(away, project, "traced.ipynb")
    run_cells(program, 8, "trace", "faults.json")
    assert json.loads((program.parent / "faults.json").read_text()) == []


def test_frozen_layers_without_pretrained_weights_need_no_file(away, tmp_path):
    graph = Graph.of(
        [
            Node("a", "input", "a", {"shape": (8, 8, 1)}),
            Node("b", "conv2d", "b", {"filters": 4}, training="fine_tuning"),
            Node("c", "flatten", "c", {}),
            Node("d", "dense", "d", {"units": 3, "activation": "softmax"}),
        ],
        [Edge("a", "b"), Edge("b", "c"), Edge("c", "d")],
    )
    recipe = TrainingRecipe().with_values(epochs=3, fine_tuning_after=2, batch_size=40)
    project = Project(graph, recipe, Choice("npz", {"path": str(away.data)}))
    path = away.export(project, tmp_path / "net.ipynb")
    assert {each.name for each in tmp_path.iterdir()} == {"net.ipynb", "net.images.npz"}
    assert "pretrained" not in path.read_text().lower()
    frozen = replace(project, recipe=recipe.with_values(fine_tuning_after=None))
    text = away.export(frozen, tmp_path / "net.py").read_text()
    assert "trainable=False" in text
    assert "tuned_" not in text
