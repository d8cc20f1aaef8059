"""Setting another computer up, against a real bridge in a process with a HOME of its own."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from tests.remote.bridges import digest_before, local_line
from workbench import assets
from workbench.backbones import all_backbones, insert_backbone
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.params import defaults
from workbench.core.projects.project import Choice, Project
from workbench.core.training.recipe import TrainingRecipe
from workbench.datasets import all_datasets
from workbench.errors import DatasetError, RemoteError, WeightsError
from workbench.protocol.events import RunFinished, RunStarted
from workbench.remote.setup import (
    Setup,
    code_archive,
    fitting_python,
    name_there,
    prepare,
    request_there,
)
from workbench.runs.folder import RunFolder, RunRequest, create_run
from workbench.runs.log.event_log import read_all
from workbench.runs.state.queue import enqueue, is_waiting
from workbench.runs.store.weights_file import read_arrays
from workbench.targets import all_targets
from workbench.templates import find_template


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "there"
    folder.mkdir()
    return folder


@pytest.fixture
def progress():
    return []


@pytest.fixture
def npz(tmp_path):
    random = np.random.default_rng(0)
    path = tmp_path / "data.npz"
    np.savez(
        path,
        x_train=random.integers(0, 256, (64, 28, 28), np.uint8),
        y_train=np.arange(64) % 10,
        x_test=random.integers(0, 256, (20, 28, 28), np.uint8),
        y_test=np.arange(20) % 10,
    )
    return path


def with_backbone():
    """A project of a bundled backbone, which never learns, and a head of ten classes."""
    spec = next(spec for spec in all_backbones().values() if spec.is_bundled)
    start = Graph.of([Node("n1", "input", "image", {"shape": (28, 28, 1)})])
    found = insert_backbone(start, spec, "n1", (28, 28, 1))
    head = Node("head", "dense", "head", {"units": 10, "activation": "softmax"})
    return Project(found.graph.with_node(head).with_edge(Edge(found.last, "head")))


def remote_run(npz, project=None, **params):
    """A tiny run of this computer's pictures, for the far end's processor."""
    project = project or find_template("lenet5").project
    target = {**defaults(all_targets()["ssh"].params), "host": "there", "python": sys.executable}
    npz_params = {**defaults(all_datasets()["npz"].params), "path": str(npz)}
    recipe = TrainingRecipe(epochs=1, batch_size=32)
    return create_run(
        replace(
            project,
            recipe=recipe,
            dataset=Choice("npz", npz_params),
            target=Choice("ssh", {**target, **params}),
        ),
        project_path="/home/somebody/secret.workbench",
    )


def test_the_code_alone_is_a_trainer_without_a_window(tmp_path):
    sha, data = code_archive()
    assert code_archive() == (sha, data)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        names = archive.namelist()
        for name in names:
            archive.extract(name, tmp_path)
    tops = {name.split("/")[1] for name in names}
    assert not tops & {"gui", "client", "document", "app.py", "cli", "remote"}
    resources = {name.split("/")[2] for name in names if "/_resources/" in name}
    assert resources == {"backbones"}
    assert not [name for name in names if name.endswith(".weights")]
    code = (
        "import sys, workbench.worker.trainer.train, workbench.worker.trainer.queue_start, workbench.worker.requests.dataset_bundle;"
        "assert workbench.__file__.startswith(sys.argv[1]), workbench.__file__;"
        "print(','.join({name.split('.')[0] for name in sys.modules}))"
    )
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-P", "-c", code, str(tmp_path)],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not set(ended.stdout.strip().split(",")) & {"PySide6", "pyqtgraph", "shiboken6"}


def test_weights_of_pretrained_networks_go_along_where_a_run_has_them(tmp_path):
    key = next(key for key, spec in all_backbones().items() if spec.is_bundled)
    _, data = code_archive((key,))
    with zipfile.ZipFile(BytesIO(data)) as archive:
        archive.extractall(tmp_path)
    code = (
        "import sys; from workbench.worker.model.build import pretrained_arrays;"
        "print(sum(a.size for v in pretrained_arrays(sys.argv[1]).values() for a in v.values()))"
    )
    ended = subprocess.run(
        [sys.executable, "-P", "-c", code, key],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(ended.stdout) == all_backbones()[key].num_parameters


def test_weights_that_are_not_here_are_reported_before_anything_is_sent(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    key = next(key for key, spec in all_backbones().items() if not spec.is_bundled)
    with pytest.raises(WeightsError, match="have not been downloaded"):
        code_archive((key,))
    with pytest.raises(WeightsError, match="does not have"):
        code_archive(("nonet",))


@pytest.mark.parametrize("name", ["worker", "tpu", "gpu"])
def test_every_package_of_a_host_has_a_checksum_and_none_is_of_the_window(name):
    text = assets.environment_lock(name).read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]
    assert len(lines) > 20
    assert text.count("--hash=sha256:") >= len(lines)
    assert not any(word in text.lower() for word in ("pyside", "shiboken", "pyqtgraph", "http"))


def test_the_packages_for_tpus_are_the_last_ones_that_work():
    text = assets.environment_lock("tpu").read_text()
    for line in ("tensorflow-tpu==2.19.1 ", "libtpu==0.0.10 ", "keras==3.15.1 "):
        assert f"\n{line}" in text


def test_all_computers_have_the_same_keras():
    texts = [assets.environment_lock(name).read_text() for name in ("worker", "tpu", "gpu")]
    found = {next(li for li in t.splitlines() if li.startswith("keras==")) for t in texts}
    assert len(found) == 1


def test_a_request_has_no_path_of_this_computer(npz):
    run = remote_run(npz, target="virtual:2")
    text = request_there(run, Choice("virtual", {"replicas": 2}), parcel="0" * 64, on="vm")
    request = json.loads(text)
    assert request["project"]["target"]["key"] == "virtual"
    assert request["parcel"] == "0" * 64
    assert b"secret" not in text
    assert request_there(run, Choice("virtual", {"replicas": 2}), parcel="0" * 64, on="vm") == text


def test_runs_of_the_same_name_are_distinguished(written, tmp_path):
    one, other = written("Ä run; $(x)").folder, written("Ä run; $(x)").folder
    assert name_there(one) != name_there(other)
    assert name_there(one) == name_there(RunFolder(one.path))
    assert set(name_there(one)) <= set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
    )


def python(version, **more):
    return {"path": "/p", "version": [*version, 1], "has_venv": True, **more}


def test_the_python_that_fits_is_chosen_or_the_line_that_installs_it():
    both = {"pythons": [python((3, 13)), python((3, 11), path="/p311")]}
    assert fitting_python("worker", both, "vm") == "/p311"
    assert fitting_python("tpu", both, "vm") == "/p311"
    old = {"pythons": [python((3, 10)), python((3, 11), has_venv=False), "nonsense", None]}
    with pytest.raises(RemoteError) as caught:
        fitting_python("tpu", old, "vm")
    assert "python3.11-venv" in caught.value.fix
    assert "3.10" in caught.value.received


def test_an_interpreter_that_cannot_train_is_refused(home, npz, progress):
    bare = home / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    run = remote_run(npz, python=str(bare / "bin" / "python"))
    with local_line(home) as line, pytest.raises(RemoteError) as caught:
        prepare(run, line, lambda *words: progress.append(words))
    assert caught.value.key == "no_fitting_python"


def test_a_run_that_waits_for_its_turn_there_is_stopped_at_once(home):
    run = create_run(find_template("lenet5").project)
    request = request_there(run, Choice("this_computer"), parcel="", on="vm")
    with local_line(home) as line:
        code = Setup(line, lambda *_words: None).code()
        line.call("create", request, name="run-1", code=code, python=sys.executable, parcel="")
        there = RunFolder(home / "runs" / "run-1")
        enqueue(there)  # something else trains there
        line.call("control", run="run-1", command="stop")
        assert not is_waiting(there)
        assert not there.control_path.exists()
        frames = list(line.stream("attach", run="run-1", offset=0, digest=digest_before(b"")))
    assert frames[-1].text("outcome") == "stopped"
    assert read_all(there.events_path)[-1].outcome == "stopped"


def test_pictures_that_are_gone_are_reported_before_anything_is_sent(home, npz, progress):
    run = remote_run(npz)
    npz.unlink()
    with local_line(home) as line, pytest.raises(DatasetError):
        prepare(run, line, lambda *words: progress.append(words))
    assert list((home / "parcels").iterdir()) == []
    assert list((home / "runs").iterdir()) == []


def test_a_list_of_packages_with_a_wrong_sum_is_not_installed(home):
    with local_line(home) as line, pytest.raises(RemoteError) as caught:
        line.call("environment", b"evil", name="worker", sha="0" * 64, python=sys.executable)
    assert caught.value.key == "sum"


def test_an_environment_is_made_once_and_reported(home, progress, monkeypatch, tmp_path):
    """A real one, of an empty list of packages: no index is used."""
    lock = tmp_path / "worker.lock"
    lock.write_text("# nothing\n")
    monkeypatch.setattr(assets, "environment_lock", lambda name: lock)
    with local_line(home) as line:
        setup = Setup(line, lambda *words: progress.append(words))
        facts = {**setup.probe(), "free_bytes": 10**12}
        facts["pythons"] = setup.probe(sys.executable)["pythons"]
        path, sha = setup.environment("worker", facts)
        assert os.access(path, os.X_OK)
        assert path.startswith(str(home / "environments"))
        assert [e["sha"] for e in setup.probe()["environments"]] == [sha]
        before = Path(path).lstat().st_ctime_ns
        assert setup.environment("worker", setup.probe())[0] == path
        assert Path(path).lstat().st_ctime_ns == before
    assert any("environment" in words for words, _ in progress)
    assert not [p for p in (home / "environments").iterdir() if p.name.startswith(".new")]


def test_a_package_that_cannot_be_had_leaves_no_environment(home, monkeypatch):
    lock = b"no-such-package-of-ours==1 --hash=sha256:" + b"0" * 64 + b"\n"
    sha = hashlib.sha256(lock).hexdigest()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with local_line(home) as line, pytest.raises(RemoteError) as caught:
        line.call("environment", lock, name="worker", sha=sha, python=sys.executable)
    assert caught.value.key == "pip"
    assert "no-such-package-of-ours" in caught.value.received
    assert [p.name for p in (home / "environments").iterdir()] == [f"{sha[:16]}.lock"]


@pytest.mark.worker
def test_a_run_is_trained_at_the_far_end(home, npz, progress):
    """Probe, code, pictures, request, start, log: all of it real, over plain pipes."""
    run = remote_run(npz)
    with local_line(home) as line:
        ready = prepare(run, line, lambda *words: progress.append(words))
        again = prepare(run, line, lambda *words: progress.append(words))
        assert again == ready
        npz.unlink()  # the far end has its own
        assert not line.call("start", run=ready.run, attempt=1).flag("was_started")
        assert line.call("start", run=ready.run, attempt=1).flag("was_started")
        log = b""
        for frame in line.stream("attach", run=ready.run, offset=0, digest=digest_before(b"")):
            log += frame.data
        assert frame.text("outcome") == "completed"
        assert line.call("start", run=ready.run, attempt=1).flag("was_started")
    there = RunFolder(home / "runs" / ready.run)
    assert there.events_path.read_bytes() == log
    events = read_all(there.events_path)
    assert len([e for e in events if isinstance(e, RunStarted)]) == 1
    assert isinstance(events[-1], RunFinished)
    assert there.has_model()
    assert there.path.stat().st_mode & 0o777 == 0o700
    request: RunRequest = there.request()
    assert request.on == "there"
    # One upload each, although it was prepared twice.
    sent = [words for words, _ in progress if words.endswith("unpacking")]
    assert sorted(sent) == ["Sending the images: unpacking", "Sending the program: unpacking"]


@pytest.mark.full
@pytest.mark.worker
def test_a_run_with_a_backbone_finds_its_weights_at_the_far_end(home, npz):
    run = remote_run(npz, with_backbone())
    with local_line(home) as line:
        ready = prepare(run, line, lambda *_words: None)
        line.call("start", run=ready.run, attempt=1)
        frames = line.stream("attach", run=ready.run, offset=0, digest=digest_before(b""))
        assert [frame.text("outcome") for frame in frames][-1] == "completed"
    there = RunFolder(home / "runs" / ready.run)
    weights = read_arrays(there.weights_path)
    stored = next(home.glob("code/*/workbench/_resources/backbones/*.weights"))
    assert np.array_equal(weights["conv1/kernel"], read_arrays(stored)["conv1/kernel"])


def test_two_that_send_the_same_at_once_both_succeed(home):
    """Two run mirrors set one computer up: each piece is kept once, whichever sends it."""
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("random", os.urandom(8 << 20))
    whole = data.getvalue()
    sha = hashlib.sha256(whole).hexdigest()
    faults = []

    def send():
        try:
            with local_line(home) as line:
                setup = Setup(line, lambda *words: None)
                setup._send("parcel", sha, len(whole), lambda at: whole[at : at + (1 << 17)])
        except RemoteError as error:
            faults.append(error)

    senders = [threading.Thread(target=send) for _ in range(3)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    assert faults == []
    assert (home / "parcels" / sha / "random").stat().st_size == 8 << 20
    assert list((home / "uploads").iterdir()) == []
