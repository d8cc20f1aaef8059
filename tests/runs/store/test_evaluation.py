"""The evaluation that is kept with a run: read back as it was, and harmless where it is not."""

from __future__ import annotations

import contextlib
import json
import os

import msgspec
import pytest

from workbench.core.projects.project import Choice
from workbench.errors import LinkFoundError, RunFolderError
from workbench.protocol.events import TestResult
from workbench.protocol.trained.evaluate import Averages, ClassScore, Evaluation
from workbench.protocol.weights import KeptWeights
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.store.evaluation import (
    EVALUATION_NAME,
    KeptEvaluation,
    keep_evaluation,
    known_scores,
    read_evaluation,
    remove_evaluation,
)

CLASSES = ["cat", "dog"]
RESULT = Evaluation(
    id=3,
    loss=0.51239,
    accuracy=0.75,
    classes=CLASSES,
    per_class=[
        ClassScore(name="cat", precision=0.9, recall=0.6, f1=0.72, count=5),
        ClassScore(name="dog", precision=0.4, recall=0.8, f1=0.53, count=15),
    ],
    confusion=[[3, 2], [3, 12]],
    weights=KeptWeights(epoch=40),
)
KEPT = KeptEvaluation(result=RESULT, checksum="abc", created=1_700_000_000.0)
CARD = ModelCard(
    class_names=CLASSES,
    input_shape=[8, 8, 3],
    fit="crop",
    graph={},
    checksum="abc",
    test=TestResult(loss=0.4, accuracy=0.8, count=20),
)


@pytest.fixture
def run(run):
    write_card(run.path, CARD)
    return run


@pytest.mark.parametrize(
    ("source", "params", "words"),
    [
        ("", {}, ""),
        ("folder", {"path": "/x/held out"}, "Image folder: held out"),
        ("gone", {}, "gone"),
    ],
)
def test_it_is_read_as_it_was_kept(run, source, params, words):
    result = msgspec.structs.replace(RESULT, part="other" if source else "test")
    kept = msgspec.structs.replace(KEPT, result=result, source=source, params=params)
    keep_evaluation(run, kept)
    known = known_scores(run)
    assert (known.kept, known.test, known.checksum) == (kept, CARD.test, "abc")
    assert known.problem is None
    assert kept.source_words() == words


def kept_on(part, created, **values):
    result = msgspec.structs.replace(RESULT, part=part)
    return msgspec.structs.replace(KEPT, result=result, created=created, **values)


def test_each_set_of_images_has_its_own(run):
    first, other = kept_on("train", 5.0), kept_on("other", 6.0, source="gone")
    for kept in (first, other, kept_on("test", 3.0), kept_on("test", 4.0)):
        keep_evaluation(run, kept)
    known = known_scores(run)
    assert known.evaluations == {
        "train": first,
        "other": other,
        "test": kept_on("test", 4.0),
    }
    assert known.kept == other
    assert read_evaluation(run, CLASSES, "train") == first
    assert read_evaluation(run, CLASSES, "validation") is None
    remove_evaluation(run, first)
    assert set(known_scores(run).evaluations) == {"other", "test"}


def test_one_of_an_earlier_version_is_of_the_images_it_was_made_with(run):
    """They were all in one file, and did not name the images but for their data set."""
    old = msgspec.json.decode(msgspec.json.encode(KEPT))
    del old["result"]["part"], old["result"]["top_k_accuracy"]
    path = run.path / EVALUATION_NAME
    path.write_bytes(msgspec.json.encode(old))
    assert known_scores(run).evaluations == {"test": KEPT}
    path.write_bytes(msgspec.json.encode(old | {"source": "gone"}))
    other = kept_on("other", KEPT.created, source="gone")
    assert known_scores(run).evaluations == {"other": other}
    assert read_evaluation(run, CLASSES) is None
    assert read_evaluation(run, CLASSES, "other") == other
    keep_evaluation(run, KEPT)
    remove_evaluation(run, KEPT)
    path.write_bytes(msgspec.json.encode(old | {"source": "gone"}))
    remove_evaluation(run, other)
    assert known_scores(run).kept is None


def test_a_damaged_one_hides_no_other(run):
    keep_evaluation(run, kept_on("validation", 4.0))
    (run.path / EVALUATION_NAME).write_bytes(b"{}")
    known = known_scores(run)
    assert known.kept == kept_on("validation", 4.0)
    assert known.problem is not None


def test_a_run_that_was_never_evaluated_has_its_own_test(run):
    known = known_scores(run)
    assert (known.kept, known.test, known.problem) == (None, CARD.test, None)


def _changed(**values):
    return msgspec.json.encode(
        msgspec.structs.replace(KEPT, result=msgspec.structs.replace(RESULT, **values))
    )


def _matrix(confusion):
    old = msgspec.json.decode(msgspec.json.encode(KEPT))
    return msgspec.json.encode(old | {"result": old["result"] | {"confusion": confusion}})


def _scored(**values):
    scores = [msgspec.structs.replace(RESULT.per_class[0], **values), RESULT.per_class[1]]
    return _changed(per_class=scores)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"result": {"answer": "done"}}',
        _changed(classes=["cat", "cow"]),
        _changed(per_class=RESULT.per_class[:1]),
        _matrix([[3, 2]]),
        _matrix([[3, 2], [3]]),
        _matrix([[3, 2], [3, -12]]),
        _matrix([[3, 2], [3, 2**60]]),
        _matrix([[3, 2], [3, 2**80]]),
        _matrix({"actual": [0], "predicted": [2], "counts": [1]}),
        _matrix({"actual": [0], "predicted": [1], "counts": [1, 2]}),
        _matrix({"actual": [1, 0], "predicted": [1, 0], "counts": [1, 2]}),
        _changed(roc_auc=Averages(macro=1.5)),
        _changed(accuracy=7.5),
        _changed(top_k_accuracy={3: -0.5}),
        _changed(weights=KeptWeights(epoch=40, kind="w" * 1_000)),
        _changed(weights=KeptWeights(epoch=-1)),
        _changed(loss=2.0).replace(b'"loss":2.0', b'"loss":1e999'),
        _scored(precision=-0.1),
        _scored(count=-5),
        _scored(roc_auc=-0.5),
        msgspec.json.encode(msgspec.structs.replace(KEPT, created=1e18)),
        msgspec.json.encode(msgspec.structs.replace(KEPT, created=-1.0)),
        msgspec.json.encode(KEPT) + b" " * 65 * 2**20,
    ],
)
def test_what_cannot_be_scores_of_this_model_is_refused(run, content):
    (run.path / EVALUATION_NAME).write_bytes(content)
    known = known_scores(run)
    assert (known.kept, known.test) == (None, CARD.test)
    assert known.problem is not None
    assert known.problem.what == "The kept evaluation is damaged."
    assert known.problem.fix == "Evaluate again."
    assert len(str(known.problem)) < 1_000


def test_one_of_a_newer_version_says_so(run):
    newer = msgspec.structs.replace(KEPT, version=2)
    (run.path / EVALUATION_NAME).write_bytes(msgspec.json.encode(newer))
    with pytest.raises(RunFolderError, match="newer version"):
        read_evaluation(run, CLASSES)


def test_a_pipe_of_that_name_is_not_waited_for(run):
    os.mkfifo(run.path / EVALUATION_NAME)
    assert known_scores(run).kept is None


def test_it_is_written_neither_through_a_link_nor_outside_a_run(run, tmp_path):
    (tmp_path / "mine").write_text("precious")
    (run.path / EVALUATION_NAME).symlink_to(tmp_path / "mine")
    with pytest.raises(LinkFoundError):
        keep_evaluation(run, KEPT)
    assert (tmp_path / "mine").read_text() == "precious"
    with pytest.raises(RunFolderError, match="not a run folder"):
        keep_evaluation(RunFolder(tmp_path), KEPT)


def test_one_that_is_too_large_is_not_kept(run):
    params = {"path": "x" * 65 * 2**20}
    with pytest.raises(RunFolderError, match="too large"):
        keep_evaluation(run, msgspec.structs.replace(KEPT, source="folder", params=params))
    assert not (run.path / EVALUATION_NAME).exists()


def test_a_folder_without_a_model_has_none(tmp_path):
    with pytest.raises(RunFolderError):
        known_scores(RunFolder(tmp_path))


def test_a_flipped_bit_of_a_runs_files_is_damage_or_changes_nothing(run):
    """F12: no request, card or figure is another one because a bit of its file is."""
    keep_evaluation(run, KEPT)
    run.move_to(Choice("local", {}))
    readers = {
        run.request_path: run.request,
        run.card_path: run.model_card,
        run.target_path: run.moved_to,
        run.path / EVALUATION_NAME: lambda: read_evaluation(run, CLASSES),
    }
    for path, read in readers.items():
        whole, value = path.read_bytes(), read()
        silent = []
        for bit in range(8 * len(whole)):
            changed = bytearray(whole)
            changed[bit // 8] ^= 1 << bit % 8
            path.write_bytes(changed)
            with contextlib.suppress(RunFolderError):
                if read() != value:
                    silent.append(bit)
        assert not silent, path.name
        path.write_bytes(whole)
        assert read() == value


def test_a_file_that_another_program_wrote_anew_is_read(run):
    keep_evaluation(run, KEPT)
    path = run.path / EVALUATION_NAME
    plain = json.loads(path.read_bytes())
    plain["result"]["accuracy"] = 0.5
    path.write_text(json.dumps(plain), encoding="utf-8")
    assert read_evaluation(run, CLASSES).result.accuracy == 0.5
