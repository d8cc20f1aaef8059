"""Weights and models to plain Keras and back, with a plain Keras program in its own process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Self

import h5py
import numpy as np
import pytest
from PIL import Image
from PySide6.QtWidgets import QFileDialog

from tests.window_parts import drop_on
from tests.worker.conftest import Service
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import project_text
from workbench.protocol.bases import ErrorParts
from workbench.protocol.classify import Classified, Classify
from workbench.protocol.export import Export
from workbench.protocol.messages import Done
from workbench.protocol.weights import LoadWeights
from workbench.runs.folder import RunFolder
from workbench.runs.library.index import list_runs

pytestmark = pytest.mark.worker

PLAIN_KERAS = Path(__file__).parents[1] / "plain_keras.py"
NAMES = ["ash", "birch", "cedar", "deodar"]
OTHER_NAMES = ["oak", "pine", "elm", "yew"]
LIMIT = 1e-5
WAIT_MS = 60_000


def project(data: str = "/nowhere/trees.npz") -> Project:
    """The architecture of plain_keras.py, as a person assembles it."""
    same = {"kernel_size": (3, 3), "padding": "same"}
    nodes = [
        Node("n1", "input", "Pictures in", {"shape": (14, 12, 3)}),
        Node("n2", "random_flip", "flip", {}),
        Node("n3", "normalization", "norm", {}),
        Node("n4", "conv2d", "first conv", {"filters": 6, "activation": "relu", **same}),
        Node("n5", "batch_normalization", "bn", {}),
        Node("n6", "separable_conv2d", "left", {"filters": 6, **same}),
        Node(
            "n7",
            "conv2d",
            "right",
            {"filters": 6, "kernel_size": (1, 3), "padding": "same", "use_bias": False},
        ),
        Node("n8", "prelu", "prelu", {"share_places": True}),
        Node("n9", "add", "add", {}),
        Node("n10", "max_pooling2d", "pool", {}),
        Node("n11", "depthwise_conv2d", "class", {"kernel_size": (3, 3)}),
        Node("n12", "layer_normalization", "ln", {}),
        Node("n13", "flatten", "flatten", {}),
        Node("n14", "dropout", "dropout", {"rate": 0.5}),
        Node("n15", "dense", "last", {"units": 4}),
    ]
    chain = [("n5", "n7", 0), ("n6", "n9", 0), ("n8", "n9", 1), ("n7", "n8", 0)]
    for a, b in ((1, 2), (2, 3), (3, 4), (4, 5), (5, 6), *((i, i + 1) for i in range(9, 15))):
        chain.append((f"n{a}", f"n{b}", 0))
    return Project(
        title="Trees",
        graph=Graph.of(nodes, [Edge(*edge) for edge in chain]),
        dataset=Choice("npz", {"path": data}),
    )


class PlainKeras:
    """A plain Keras program in its own process, given one word after the other."""

    def __init__(self, folder: Path) -> None:
        self._log = (folder / "plain_keras.log").open("w+")
        self._process = subprocess.Popen(
            [sys.executable, str(PLAIN_KERAS), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        with self._log, self._process:
            self._process.stdin.close()

    def do(self, word: str) -> None:
        """Has one thing done, and waits for its end."""
        print(word, file=self._process.stdin, flush=True)
        if self._process.stdout.readline() != f"{word}\n":
            self._log.seek(0)
            pytest.fail(self._log.read()[-3000:])


class Exchange:
    """What all tests here look at: made once, because each side starts TensorFlow.

    Attributes:
        folder: Pictures, and the files that both sides have written.
        home: The worker's own home.
        service: The worker.
        loaded: The answer to loading plain Keras's weights.
        pictures: Picture files, exact pixels.
    """

    def __init__(self, folder: Path, service: Service) -> None:
        self.folder, self.home, self.service = folder, service.home, service
        pixels = np.random.default_rng(5).integers(0, 256, (8, 14, 12, 3), dtype=np.uint8)
        np.save(folder / "pictures.npy", pixels)
        np.savez(folder / "trees.npz", x=pixels, y=np.arange(8) % 4, class_names=np.array(NAMES))
        self.pictures = [str(folder / f"{number}.png") for number in range(8)]
        for path, one in zip(self.pictures, pixels, strict=True):
            Image.fromarray(one).save(path)
        with PlainKeras(folder) as plain_keras:
            self._exchange(plain_keras)

    def _exchange(self, plain_keras: PlainKeras) -> None:
        plain_keras.do("make")
        folder = self.folder
        self.loaded = self.load(folder / "plain.weights.h5")
        for name, ending in (("weights", ".weights.h5"), ("keras", ".keras"), ("python", ".py")):
            path = str(folder / f"app{ending}")
            text = self.service.done(Export, model=self.run, format=name, path=path).text
            assert "differ from the model's by at most" in text
        plain_keras.do("check")

    def probabilities(self, model: str) -> np.ndarray:
        """Of the pictures."""
        *answers, end = self.service.answers(Classify, model=model, pictures=self.pictures)
        assert isinstance(end, Done), end
        rows = [a for a in answers if isinstance(a, Classified)]
        by_name = [{s.name: s.probability for s in row.scores} for row in rows]
        return np.array([[scores[name] for name in NAMES] for scores in by_name])

    @property
    def run(self) -> str:
        return self.loaded.path

    def load(self, path: Path) -> Done:
        return self.service.done(LoadWeights, project=self.project, weights=str(path))

    @property
    def project(self) -> str:
        """A project whose data set has NAMES for classes."""
        return project_text(project(str(self.folder / "trees.npz")))

    def array(self, name: str) -> np.ndarray:
        return np.load(self.folder / f"{name}.npy")


@pytest.fixture(scope="module")
def exchange(service, tmp_path_factory):
    return Exchange(tmp_path_factory.mktemp("exchange"), service)


def test_weights_of_plain_keras_classify_the_same_here(exchange):
    ours = exchange.probabilities(exchange.run)
    made = exchange.array("made")
    assert np.ptp(made, axis=0).max() > 0.01  # the answers do depend on the picture
    assert np.abs(ours - made).max() <= LIMIT


def test_a_plain_keras_model_file_gives_its_weights_too(exchange):
    run = exchange.load(exchange.folder / "plain.keras").path
    ours = exchange.probabilities(run)
    assert np.abs(ours - exchange.array("made")).max() <= LIMIT


@pytest.mark.parametrize("export", ["weights", "keras", "script"])
def test_plain_keras_answers_the_same_with_what_was_exported(exchange, export):
    assert np.abs(exchange.array(export) - exchange.array("made")).max() <= LIMIT


def test_an_exported_model_classifies_on_its_own(exchange):
    model = str(exchange.folder / "app.keras")
    ours = exchange.probabilities(model)
    assert np.abs(ours - exchange.array("made")).max() <= LIMIT


def test_loaded_weights_are_a_run_in_the_list(exchange):
    (summary, *_) = [s for s in list_runs(exchange.home / "runs") if str(s.path) == exchange.run]
    assert summary.has_model
    assert summary.outcome == "completed"
    assert "plain.weights.h5" in summary.title


def test_the_script_is_formatted_and_lints(exchange):
    script = str(exchange.folder / "app.py")
    for words in (["format", "--check"], ["check"]):
        command = [sys.executable, "-m", "ruff", *words, "--isolated", "--no-cache", script]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@pytest.mark.full
def test_an_export_replaces_the_old_file_only_when_it_is_whole(exchange, tmp_path):
    target = tmp_path / "sub" / "model.keras"
    error = exchange.service.failed(Export, model=exchange.run, format="keras", path=str(target))
    assert str(target.parent) in f"{error.where} {error.received}"
    target.parent.mkdir()
    target.write_bytes(b"old")
    exchange.service.done(Export, model=exchange.run, format="keras", path=str(target))
    assert zipfile.is_zipfile(target)
    assert [path.name for path in target.parent.iterdir()] == ["model.keras"]


def test_an_unknown_format_is_reported_with_the_known_ones(exchange, tmp_path):
    path = str(tmp_path / "x")
    error = exchange.service.failed(Export, model=exchange.run, format="abacus", path=path)
    assert {"keras", "python", "weights"} < set(error.expected.replace(",", "").split())


# hostile files --------------------------------------------------------------------------


KERNEL = "layers/conv2d/vars/0"


def _external_link(file, folder):
    with h5py.File(folder / "secret.h5", "w") as secret:
        secret["numbers"] = file[KERNEL][()]
    del file[KERNEL]
    file[KERNEL] = h5py.ExternalLink(str(folder / "secret.h5"), "numbers")


def _soft_link(file, folder):
    kernel = file[KERNEL][()]
    del file[KERNEL]
    file["elsewhere"] = kernel
    file[KERNEL] = h5py.SoftLink("/elsewhere")


def _external_data(file, folder):
    shape = file[KERNEL].shape
    (folder / "secret.bin").write_bytes(bytes(4 * int(np.prod(shape))))
    del file[KERNEL]
    file.create_dataset(
        KERNEL, shape, "float32", external=[(str(folder / "secret.bin"), 0, h5py.h5f.UNLIMITED)]
    )


def _virtual_data(file, folder):
    shape = file[KERNEL].shape
    with h5py.File(folder / "secret.h5", "w") as secret:
        secret["numbers"] = file[KERNEL][()]
    layout = h5py.VirtualLayout(shape, "float32")
    layout[...] = h5py.VirtualSource(str(folder / "secret.h5"), "numbers", shape)
    del file[KERNEL]
    file.create_virtual_dataset(KERNEL, layout)


def _shape_bomb(file, folder):
    del file[KERNEL]
    file.create_dataset(KERNEL, (3 * 2**28,), "float32", chunks=(2**20,), compression="gzip")


def _not_a_number(file, folder):
    kernel = file[KERNEL][()]
    kernel.flat[3] = np.nan
    file[KERNEL][...] = kernel


def _complex_numbers(file, folder):
    kernel = file[KERNEL][()]
    del file[KERNEL]
    file[KERNEL] = kernel.astype("complex128")


def _wrong_names(file, folder):
    file.move("layers/conv2d", "layers/first_conv")


def _one_layer_more(file, folder):
    file["layers/dense_1/vars/0"] = np.zeros((4, 4), "float32")


def _a_bias_more(file, folder):
    file["layers/conv2d_1/vars/1"] = np.zeros(6, "float32")


def _group_for_numbers(file, folder):
    del file[KERNEL]
    file.create_group(KERNEL)


HOSTILE = {
    _external_link: ("were not loaded", "'layers/conv2d/vars/0': an external link"),
    _soft_link: ("were not loaded", "'layers/conv2d/vars/0': an external link"),
    _external_data: ("were not loaded", "'layers/conv2d/vars/0': its numbers are in another file"),
    _virtual_data: ("were not loaded", "'layers/conv2d/vars/0': its numbers are in another file"),
    _shape_bomb: ("a different model", "(805306368, 6) in the file"),
    _not_a_number: ("were not loaded", "first_conv/kernel: 1 values not finite"),
    _complex_numbers: ("a different model", "complex128 3×3×3×6"),
    _wrong_names: ("a different model", "'first_conv' (3×3×3×6, 6) in the model"),
    _one_layer_more: ("a different model", "'layers/dense_1' (4×4) in the file"),
    _a_bias_more: ("a different model", "(1×3×6×6, 6) in the file"),
    _group_for_numbers: ("were not loaded", "a group instead of numbers"),
}


@pytest.mark.parametrize("spoil", HOSTILE, ids=lambda spoil: spoil.__name__.strip("_"))
def test_a_hostile_weights_file_is_refused_in_words(exchange, tmp_path, spoil):
    path = tmp_path / "hostile.weights.h5"
    shutil.copy(exchange.folder / "plain.weights.h5", path)
    with h5py.File(path, "r+") as file:
        spoil(file, tmp_path)
    what, received = HOSTILE[spoil]
    error = refused(exchange, path)
    assert what in error.what
    assert received in error.received
    assert error.where == str(path)


def _cut(path, whole):
    path.write_bytes(whole[: len(whole) // 2])


def _text(path, whole):
    path.write_text("these are not the weights you are looking for")


def _nothing(path, whole):
    path.write_bytes(b"")


def _flipped(path, whole):
    random = np.random.default_rng(1)
    damaged = bytearray(whole)
    for place in random.integers(0, 2_000, 60):
        damaged[place] ^= 0xFF
    path.write_bytes(bytes(damaged))


def _folder(path, whole):
    path.mkdir()


def _pipe(path, whole):
    os.mkfifo(path)


def _missing(path, whole):
    pass


@pytest.mark.parametrize(
    "spoil",
    [_cut, _text, _nothing, _flipped, _folder, _pipe, _missing],
    ids=lambda spoil: spoil.__name__.strip("_"),
)
def test_what_is_no_weights_file_is_refused_in_words(exchange, tmp_path, spoil):
    path = tmp_path / "broken.weights.h5"
    spoil(path, (exchange.folder / "plain.weights.h5").read_bytes())
    error = refused(exchange, path)
    assert error.kind == "WeightsError"
    assert error.what.endswith(".")


def test_the_command_refuses_a_link_in_a_circle(exchange, tmp_path, run_command, capsys):
    (project := tmp_path / "p.workbench").write_text(exchange.project)
    (path := tmp_path / "circle.weights.h5").symlink_to("circle.weights.h5")
    assert run_command(["load", str(project), str(path)]) == 3
    assert "The weights file" in capsys.readouterr().err


def test_a_zip_bomb_is_not_unpacked(exchange, tmp_path):
    path = tmp_path / "bomb.keras"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("model.weights.h5", "w") as member,
    ):
        for _ in range(256):
            member.write(bytes(1 << 20))
    assert "larger than" in refused(exchange, path).what


def test_a_model_of_unknown_origin_is_not_opened(exchange):
    path = str(exchange.folder / "plain.keras")
    error = exchange.service.failed(Classify, model=path, pictures=exchange.pictures[:1])
    assert "not a model exported by Workbench" in error.what
    assert "`workbench load PROJECT FILE`" in error.fix


def with_names(exchange: Exchange, names: list[str], path: Path) -> Path:
    """Our exported `.keras` with other class names inside, as a foreign network has them."""
    with zipfile.ZipFile(exchange.folder / "app.keras") as old, zipfile.ZipFile(path, "w") as new:
        for member in old.namelist():
            data = old.read(member)
            if member == "workbench.json":
                data = json.dumps({**json.loads(data), "class_names": names}).encode()
            new.writestr(member, data)
    return path


def test_the_files_own_class_names_win_and_the_difference_is_noted(exchange, tmp_path):
    path = with_names(exchange, OTHER_NAMES, tmp_path / "others.keras")
    loaded = exchange.load(path)
    assert RunFolder(Path(loaded.path)).model_card().class_names == OTHER_NAMES
    assert "those of the data set differ" in loaded.text
    assert "differ" not in exchange.load(exchange.folder / "app.keras").text


def test_a_file_with_another_number_of_class_names_is_refused(exchange, tmp_path):
    path = with_names(exchange, ["oak", "pine"], tmp_path / "two.keras")
    error = refused(exchange, path)
    assert (error.received, error.expected[:2]) == ("2 names", "4,")


def test_weights_without_names_get_those_of_the_data_set(exchange):
    assert RunFolder(Path(exchange.run)).model_card().class_names == NAMES


@pytest.fixture
def others(exchange, tmp_path) -> Path:
    """A foreign .keras, beside a project of the same network, trees.workbench."""
    (tmp_path / "trees.workbench").write_text(exchange.project)
    return with_names(exchange, OTHER_NAMES, tmp_path / "others.keras")


@pytest.mark.full
def test_menu_drop_classify_and_command_give_the_same_class_names(
    others, window, run_command, qtbot, monkeypatch
):
    project, by_command = others.with_name("trees.workbench"), others.with_name("run")
    assert window.files.open(str(project))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_words: (str(others), ""))
    doors = {
        "menu": window.actions_by_key["load_weights"].trigger,
        "drop": lambda: drop_on(window, others),
        "classify": window.show_view("classify").ask_weights,
    }
    found = {}
    for door, load in doors.items():
        with qtbot.waitSignal(window.context.weights.loaded, timeout=WAIT_MS) as loaded:
            load()
        found[door] = Path(loaded.args[0])
    assert run_command(["load", str(project), str(others), "--run", str(by_command)]) == 0
    found["command"] = by_command
    assert len(set(found.values())) == 4
    names = {door: RunFolder(run).model_card().class_names for door, run in found.items()}
    assert names == dict.fromkeys(found, OTHER_NAMES)


def refused(exchange: Exchange, path: Path) -> ErrorParts:
    """Loads weights that must be refused; nothing may be left behind."""
    before = sorted((exchange.home / "runs").iterdir())
    error = exchange.service.failed(LoadWeights, project=exchange.project, weights=str(path))
    assert sorted((exchange.home / "runs").iterdir()) == before
    return error
