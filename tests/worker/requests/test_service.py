"""The service worker as a real process: what it answers, and how it begins and ends."""

from __future__ import annotations

import csv
import fcntl
import hashlib
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace
from PIL import Image

from tests.worker.requests.brightness import (
    GREY_LIMIT,
    brightness_alone,
    write_pictures,
    write_weights,
)
from workbench.parts import HEIC
from workbench.protocol.bases import PROTOCOL_VERSION, Answer
from workbench.protocol.classify import Classified, Classify, WarmUp
from workbench.protocol.describe_data import DataDescription, DescribeData, ShowPicture
from workbench.protocol.messages import Cancel, Done, Failed, Hello, Progress
from workbench.protocol.service_call import ServiceCall, worker_command, worker_environment
from workbench.protocol.trained.evaluate import Evaluate, Evaluation, PickTestPictures, TestPictures
from workbench.protocol.wire import MAX_REQUEST_BYTES, decode_answer, encode_request
from workbench.runs.folder import RunFolder
from workbench.runs.log.texts import remark_words, set_words
from workbench.runs.store.checkpoint import ORIGIN_NAME, DataMark, this_machine, write_origin
from workbench.runs.store.evaluation import EVALUATION_NAME, known_scores, read_image_scores
from workbench.runs.store.weights_file import read_arrays, write_arrays
from workbench.worker.process.setup import SessionFolder, sweep_session_folders

pytestmark = pytest.mark.worker


@pytest.fixture(scope="module")
def brightness(tmp_path_factory):
    with brightness_alone(tmp_path_factory.mktemp("brightness")) as brightness:
        yield brightness


def classified(answers: list[Answer]) -> list[Classified]:
    assert isinstance(answers[-1], Done), answers[-1]
    return [answer for answer in answers if isinstance(answer, Classified)]


# classifying ----------------------------------------------------------------------------


def test_class_names_come_from_the_projects_data(brightness):
    assert RunFolder(Path(brightness.run)).model_card().class_names == ["bright", "dark"]


def test_pictures_are_named_in_order_and_a_bad_one_stops_no_other(brightness):
    bad = brightness.folder / "bad.png"
    bad.write_bytes(b"\x89PNG\r\n\x1a\nnonsense")
    files = [
        str(brightness.data / "dark/00.png"),
        str(bad),
        str(brightness.data / "bright/00.png"),
        str(brightness.folder / "missing.png"),
    ]
    found = classified(brightness.answers(Classify, model=brightness.run, pictures=files))
    assert [one.file for one in found] == files
    assert [one.label for one in found] == ["dark", "", "bright", ""]
    assert [one.error is None for one in found] == [True, False, True, False]
    assert "cut off" in found[1].error.what
    scores = found[0].scores
    assert [score.name for score in scores] == ["dark", "bright"]
    assert sum(score.probability for score in scores) == pytest.approx(1, abs=1e-5)


def test_previews_are_the_picture_and_what_the_network_sees(brightness):
    wide = brightness.folder / "wide.png"
    Image.new("RGB", (60, 20), (250, 250, 250)).save(wide)
    (one,) = classified(
        brightness.answers(
            Classify, model=brightness.run, pictures=[str(wide)], top=1, previews=True
        )
    )
    assert (one.width, one.height, one.input_shape) == (60, 20, [4, 6, 1])
    assert len(one.scores) == 1
    with Image.open(one.picture_bitmap) as picture, Image.open(one.input_bitmap) as seen:
        assert (picture.size, seen.size, seen.mode) == ((60, 20), (6, 4), "L")
    assert Path(one.input_bitmap).parent.stat().st_mode & 0o777 == 0o700


def test_more_pictures_than_any_batch_give_each_its_own_answer(brightness):
    values = [(7 * number) % 256 for number in range(75)]
    folder = write_pictures(brightness.folder / "many", {"all": values})
    files = [str(folder / "all" / f"{number:02d}.png") for number in range(75)]
    found = classified(brightness.answers(Classify, model=brightness.run, pictures=files))
    assert [one.label for one in found] == [
        "bright" if value > GREY_LIMIT else "dark" for value in values
    ]


def test_a_model_whose_files_have_changed_is_loaded_anew(brightness):
    run = brightness.load(write_weights(brightness.folder / "second.weights.h5"))
    file = str(brightness.data / "dark/00.png")
    before = classified(brightness.answers(Classify, model=run, pictures=[file]))
    card = Path(run) / "model.json"
    text = json.dumps(json.loads(card.read_text()))  # without the checksum of what it was
    card.write_text(text.replace('"bright"', '"light"').replace('"dark"', '"gloomy"'))
    after = classified(brightness.answers(Classify, model=run, pictures=[file]))
    assert [before[0].label, after[0].label] == ["dark", "gloomy"]


def test_weights_that_are_not_finite_are_reported(brightness):
    run = brightness.load(write_weights(brightness.folder / "third.weights.h5"))
    arrays = read_arrays(Path(run) / "weights.npz")
    arrays["dense/bias"][0] = np.nan
    write_arrays(Path(run) / "weights.npz", arrays)
    card = Path(run) / "model.json"
    plain = msgspec.json.decode(card.read_bytes())
    card.write_bytes(msgspec.json.encode({**plain, "checksum": ""}))
    answer = brightness.last(Classify, model=run, pictures=[str(brightness.data / "dark/00.png")])
    assert isinstance(answer, Failed)
    assert "diverged" in answer.error.what


@pytest.mark.parametrize("request_kind", [Classify, WarmUp, Evaluate, PickTestPictures])
def test_a_run_without_weights_is_reported(brightness, tmp_path, request_kind):
    fields = {"pictures": ["a.png"]} if request_kind is Classify else {}
    answer = brightness.last(request_kind, model=str(tmp_path), **fields)
    assert isinstance(answer, Failed)
    assert answer.error.kind == "RunFolderError"
    assert "no trained weights" in answer.error.what


# evaluating -----------------------------------------------------------------------------


def test_evaluating_uses_the_part_that_training_keeps_apart(brightness):
    answer = brightness.last(Evaluate, model=brightness.run)
    assert isinstance(answer, Evaluation)
    assert answer.classes == ["bright", "dark"]
    assert answer.matrix.dense().tolist() == [[2, 0], [0, 2]]
    assert answer.accuracy == 1.0
    assert 0 <= answer.loss < 1e-3
    assert answer.top_k_accuracy == {}  # of two classes there is none
    assert [(one.name, one.precision, one.recall, one.f1) for one in answer.per_class] == [
        ("bright", 1.0, 1.0, 1.0),
        ("dark", 1.0, 1.0, 1.0),
    ]


def test_an_evaluation_is_kept_with_the_run(brightness, tmp_path):
    """Where the file is a link, the scores are answered all the same, and nothing is written."""
    run = RunFolder(Path(brightness.run))
    answer = brightness.last(Evaluate, model=brightness.run)
    known = known_scores(run)
    assert known.kept.result == answer
    assert known.kept.checksum == known.checksum == run.model_card().checksum != ""
    assert set_words(known.kept.result) == "Test set, 4 images"
    path = run.path / EVALUATION_NAME
    path.unlink()
    (tmp_path / "mine").write_text("precious")
    path.symlink_to(tmp_path / "mine")
    answer = brightness.last(Evaluate, model=brightness.run)
    path.unlink()
    assert answer.accuracy == 1.0
    assert (tmp_path / "mine").read_text() == "precious"


def test_each_part_of_the_split_is_evaluated_and_kept(brightness):
    """The training has kept 2 of 10 images a class apart for its test, and validated on none."""
    run = RunFolder(Path(brightness.run))
    test = brightness.last(Evaluate, model=brightness.run)
    train = brightness.last(Evaluate, model=brightness.run, part="train")
    assert (test.part, train.part) == ("test", "train")
    known = known_scores(run)
    kept, loaded = (files_of(run, known.evaluations[part]) for part in ("train", "test"))
    assert {*kept}.isdisjoint(loaded)
    files = {str(path) for path in brightness.data.rglob("*.png")}
    assert {*kept, *loaded} <= files
    assert known.evaluations["train"].result.count == len(kept)
    # The weights come from a file: nobody knows what they were trained on.
    assert set_words(train) == f"Training set, {len(kept)} images"
    trained = replace(train, is_from_elsewhere=False)
    assert set_words(trained) == f"{set_words(train)} (seen in training)"


def files_of(run, kept):
    images = read_image_scores(run, kept)
    return [images.file(place) for place in range(len(images))]


def test_a_data_set_that_has_other_images_than_in_the_training_is_said(brightness):
    """The scores are still those of the images that are there."""
    run = RunFolder(Path(brightness.run))
    train = brightness.last(Evaluate, model=brightness.run, part="train")
    num_train = train.count
    mark = DataMark(num_train=num_train, num_validation=0, num_test=5, digest="")
    write_origin(run, this_machine({}), mark)
    found = brightness.last(Evaluate, model=brightness.run)
    train = brightness.last(Evaluate, model=brightness.run, part="train")
    kept = known_scores(run).evaluations["test"].result
    (run.path / ORIGIN_NAME).unlink()
    assert found.count == 4
    words = "The data set has changed: when the run was trained it had 5 test images."
    assert remark_words(found) == remark_words(kept) == words
    assert remark_words(train).startswith("The model was trained on these images")
    elsewhere = remark_words(brightness.last(Evaluate, model=brightness.run))
    assert (
        elsewhere == "The model was trained elsewhere: it may have seen these images in training."
    )


def test_files_whose_names_are_no_text_are_evaluated_and_named(brightness, tmp_path):
    data = write_pictures(tmp_path / "x", {"dark": [5], "bright": [255]})
    (data / "dark" / "00.png").rename(os.fsdecode(os.fsencode(data / "dark") + b"/\xff.png"))
    answer = brightness.last(
        Evaluate,
        model=brightness.run,
        source="folder",
        params={"path": str(data)},
        table=str(tmp_path / "table.csv"),
    )
    assert isinstance(answer, Evaluation), answer
    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        names = [row["file"].rpartition("/")[2] for row in csv.DictReader(file)]
    assert sorted(names) == ["00.png", "\\udcff.png"]


def test_another_source_is_matched_by_class_names(brightness, tmp_path):
    data = write_pictures(
        tmp_path / "x", {"Dark": [5, 130, 250], "BRIGHT": [255, 3], "Bright2": []}
    )
    answer = brightness.last(
        Evaluate, model=brightness.run, source="folder", params={"path": str(data)}
    )
    assert isinstance(answer, Evaluation), answer
    assert answer.matrix.dense().tolist() == [[1, 1], [2, 1]]
    assert answer.accuracy == pytest.approx(2 / 5)
    dark = answer.per_class[1]
    assert (dark.precision, dark.count) == (0.5, 3)
    assert dark.recall == pytest.approx(1 / 3)


def test_images_of_one_class_are_evaluated(brightness, tmp_path):
    data = write_pictures(tmp_path / "x", {"dark": [5, 130, 250]})
    params = {"path": str(data)}
    answer = brightness.last(Evaluate, model=brightness.run, source="folder", params=params)
    assert isinstance(answer, Evaluation), answer
    assert answer.count == 3
    scores = {score.name: score for score in answer.per_class}
    assert (scores["dark"].roc_auc, scores["dark"].average_precision) == (None, 1.0)
    assert (scores["bright"].roc_auc, scores["bright"].average_precision) == (None, None)
    assert answer.roc_auc.macro is None
    table = tmp_path / "one.csv"
    lines = [f"{path},dark" for path in sorted(data.rglob("*.png"))]
    table.write_text("path,label\n" + "\n".join(lines))
    params = {"path": str(table)}
    again = brightness.last(Evaluate, model=brightness.run, source="csv", params=params)
    assert isinstance(again, Evaluation), again
    assert again.confusion == answer.confusion


def test_classes_that_the_model_does_not_have_are_refused(brightness, tmp_path):
    data = write_pictures(tmp_path / "x", {"dark": [5], "purple": [255]})
    answer = brightness.last(
        Evaluate, model=brightness.run, source="folder", params={"path": str(data)}
    )
    assert isinstance(answer, Failed)
    assert answer.error.received == "“purple”"
    assert "“bright”, “dark”" in answer.error.expected


def test_a_data_set_that_has_gone_is_reported(brightness):
    moved = brightness.data.rename(brightness.folder / "moved")
    try:
        answer = brightness.last(Evaluate, model=brightness.run)
    finally:
        moved.rename(brightness.data)
    assert isinstance(answer, Failed)
    assert str(brightness.data) in answer.error.where


# data -----------------------------------------------------------------------------------


def test_data_is_described_with_counts_bad_files_and_thumbnails(brightness, tmp_path):
    data = write_pictures(tmp_path / "x", {"a": list(range(10)), "b": list(range(20))})
    (data / "a" / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 cut")
    answer = brightness.last(
        DescribeData,
        source="folder",
        params={"path": str(data)},
        thumbnails_per_class=3,
        recipe={"test_share": 0.2},
    )
    assert isinstance(answer, DataDescription), answer
    assert [c.split for c in answer.classes] == [[7, 1, 2], [14, 2, 4]]
    assert [(c.name, c.num_train, c.num_test) for c in answer.classes] == [
        ("a", 8, 2),
        ("b", 16, 4),
    ]
    assert (answer.num_train, answer.num_test) == (24, 6)
    assert (answer.shape, answer.typical_size) == ([4, 6, 1], [4, 6])
    ((path, reason),) = answer.bad_files
    assert Path(path).name == "broken.jpg"
    assert reason
    thumbnails = [each for c in answer.classes for each in c.thumbnails]
    assert len(thumbnails) == 6
    for each in thumbnails:
        with Image.open(each.path) as thumbnail, Image.open(each.file) as picture:
            assert thumbnail.size == picture.size == (each.width, each.height) == (6, 4)
            assert thumbnail.getpixel((2, 2)) == picture.convert("RGB").getpixel((2, 2))


def test_files_are_listed_before_they_are_decoded_and_decoded_once(brightness, tmp_path):
    data = write_pictures(tmp_path / "x", {"a": list(range(10)), "b": list(range(20))})
    # A name that is no UTF-8, which no message can hold as it is.
    Path(os.fsdecode(bytes(data / "a") + b"/\xff.jpg")).write_bytes(b"\xff\xd8\xff\xe0 cut")
    source = {"source": "folder", "params": {"path": str(data)}, "recipe": {"split": "content"}}
    quick = brightness.last(DescribeData, **source, is_quick=True, thumbnails_per_class=1)
    assert not quick.is_complete
    assert quick.looked is None
    assert (quick.bad_files, quick.shape, quick.typical_size) == ([], [], [4, 6])
    # Cut by contents that are not known yet: no figure is better than a wrong one.
    assert [each.split for each in quick.classes] == [[], []]
    by_order = {**source, "recipe": {"split": "order"}}
    early = brightness.last(DescribeData, **by_order, is_quick=True)
    assert [sum(each.split) for each in early.classes] == [11, 20]
    assert [len(each.thumbnails) for each in quick.classes] == [1, 1]
    whole = brightness.last(DescribeData, **source)
    assert whole.is_complete
    assert [sum(each.split) for each in whole.classes] == [10, 20]
    again = brightness.last(DescribeData, **source, is_quick=True, looked=whole.looked)
    assert msgspec.structs.replace(again, id=0) == msgspec.structs.replace(whole, id=0)
    merged = {"left_out": [hashlib.sha256(b"\xff\xd8\xff\xe0 cut").hexdigest()[:32]]}
    edited = brightness.last(DescribeData, **source, looked=whole.looked, edits=merged)
    assert edited.bad_files == []
    np.savez(tmp_path / "data.npz", x=np.zeros((6, 8, 8, 3), np.uint8), y=np.arange(6) % 2)
    params = {"path": str(tmp_path / "data.npz")}
    assert brightness.last(DescribeData, source="npz", params=params, is_quick=True).is_complete


def test_a_training_picture_is_shown_large(brightness, tmp_path):
    pixels = np.random.default_rng(1).integers(0, 255, (6, 120, 200, 3), np.uint8)
    labels = np.arange(6) % 2
    np.savez(tmp_path / "data.npz", x=pixels, y=labels)
    source = {"source": "npz", "params": {"path": str(tmp_path / "data.npz")}}
    described = brightness.last(DescribeData, **source, thumbnails_per_class=2)
    for each in (each for c in described.classes for each in c.thumbnails):
        assert (each.file, each.width, each.height) == ("", 200, 120)
        with Image.open(each.path) as thumbnail:
            assert thumbnail.size == (96, 58)
        shown = brightness.last(ShowPicture, **source, index=each.index)
        with Image.open(shown.path) as picture:
            assert np.array_equal(np.asarray(picture), pixels[each.index])
    assert len(list(Path(shown.path).parent.iterdir())) == 4, "those before are not kept for ever"
    gone = brightness.last(ShowPicture, **source, index=6)
    assert "no longer" in gone.error.what


def test_a_picture_in_a_file_is_shown_from_it(brightness, tmp_path):
    data = write_pictures(tmp_path / "x", {"a": [1, 2], "b": [3, 4]})
    large = data / "a" / "00.png"
    Image.new("RGB", (2_000, 1_000), (9, 8, 7)).save(large)
    source = {"source": "folder", "params": {"path": str(data)}}
    shown = brightness.last(ShowPicture, **source, index=0, file=str(large))
    with Image.open(shown.path) as picture:
        assert picture.size == (960, 480)
        assert picture.getpixel((5, 5)) == (9, 8, 7)
    without_name = brightness.last(ShowPicture, **source, index=0)
    assert Path(without_name.path).read_bytes() == Path(shown.path).read_bytes()
    large.unlink()
    gone = brightness.last(ShowPicture, **source, index=0, file=str(large))
    assert gone.error.kind == "PictureError"


def test_an_unknown_source_and_a_wrong_value_are_reported(brightness):
    answer = brightness.last(DescribeData, source="imagenet", params={})
    assert "fashion_mnist" in answer.error.expected
    answer = brightness.last(DescribeData, source="folder", params={"path": "x", "fit": "squeeze"})
    assert answer.error.kind == "ParamError"


def test_test_pictures_come_with_their_true_class(brightness):
    answer = brightness.last(PickTestPictures, model=brightness.run, count=3, seed=1)
    assert isinstance(answer, TestPictures), answer
    assert len(answer.pictures) == 3
    assert answer.total > max(one.index for one in answer.pictures)
    files = [one.path for one in answer.pictures]
    found = classified(brightness.answers(Classify, model=brightness.run, pictures=files))
    assert [one.label for one in found] == [one.label for one in answer.pictures]
    index = answer.pictures[-1].index
    again = brightness.last(PickTestPictures, model=brightness.run, indices=[index, 9_999])
    assert [(one.index, one.label) for one in again.pictures] == [
        (index, answer.pictures[-1].label)
    ]


# the process ----------------------------------------------------------------------------


class RawWorker:
    """A worker driven line by line, without the client in between."""

    def __init__(self, temporary: Path) -> None:
        self.process = subprocess.Popen(
            worker_command("serve"),
            env={**worker_environment(), "TMPDIR": str(temporary)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def send(self, *lines: bytes) -> None:
        self.process.stdin.write(b"".join(lines))
        self.process.stdin.flush()

    def read(self) -> Answer:
        return decode_answer(self.process.stdout.readline())

    def read_until(self, request_id: int) -> Answer:
        while True:
            answer = self.read()
            if answer.id == request_id and not isinstance(answer, Progress):
                return answer

    def end(self) -> int:
        self.process.stdin.close()
        code = self.process.wait(60)
        self.process.stdout.close()
        return code


@pytest.fixture
def raw(tmp_path):
    worker = RawWorker(tmp_path)
    yield worker
    worker.process.kill()
    worker.end()


def test_hello_comes_first_and_data_needs_no_tensorflow(raw, tmp_path):
    hello = raw.read()
    assert isinstance(hello, Hello)
    assert (hello.protocol, hello.pid) == (PROTOCOL_VERSION, raw.process.pid)
    assert {"workbench", "tensorflow", "keras"} <= set(hello.versions)
    data = write_pictures(tmp_path / "data", {"a": [1, 2], "b": [3, 4]})
    request = DescribeData(id=1, source="folder", params={"path": str(data)})
    raw.send(encode_request(request))
    assert isinstance(raw.read_until(1), DataDescription)
    assert "tensorflow" not in Path(f"/proc/{hello.pid}/maps").read_text()
    assert raw.end() == 0
    assert [path.name for path in tmp_path.iterdir()] == ["data"]  # no session folder is left


def test_the_part_that_would_decode_skipped_photos_is_named(tmp_path, monkeypatch):
    """Until those photos are left out, also where nothing is decoded again."""
    (tmp_path / "library").mkdir()
    (tmp_path / "library/pillow_heif.py").write_text("raise ImportError\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "library"), prepend=os.pathsep)
    data = write_pictures(tmp_path / "data", {"a": [1, 2], "b": [3, 4]})
    photo = b"\0\0\0\x14ftypheic\0\0\0\0heic"
    (data / "a/photo.heic").write_bytes(photo)
    (data / "b/cut.jpg").write_bytes(b"\xff\xd8\xff\xe0 cut")
    request = DescribeData(id=1, source="folder", params={"path": str(data)})
    edits = {"left_out": [hashlib.sha256(photo).hexdigest()[:32]]}
    (tmp_path / "session").mkdir()
    worker = RawWorker(tmp_path / "session")
    worker.send(encode_request(request))
    whole = worker.read_until(1)
    again = msgspec.structs.replace(request, id=2, looked=whole.looked)
    worker.send(encode_request(again))
    known = worker.read_until(2)
    worker.send(encode_request(msgspec.structs.replace(again, id=3, edits=edits)))
    edited = worker.read_until(3)
    assert worker.end() == 0
    assert [len(each.bad_files) for each in (whole, known, edited)] == [2, 2, 1]
    assert whole.needed_parts == known.needed_parts == [HEIC.key]
    assert edited.needed_parts == []


def test_lines_that_are_no_requests_are_answered_and_passed_over(raw):
    raw.read()
    raw.send(b"hello?\n", b'{"request": "fly", "id": 1}\n', b'{"request": "warm_up", "id": 2}\n')
    raw.send(b"x" * 3 * MAX_REQUEST_BYTES, b" and on\n", b" " * MAX_REQUEST_BYTES + b"{}\n")
    for is_long in (False, False, False, True, True):
        answer = raw.read()
        assert isinstance(answer, Failed)
        assert (answer.id, answer.error.kind) == (0, "WireError")
        assert ("too long" in answer.error.what) == is_long
    raw.send(encode_request(WarmUp(id=7, model="/no/such/run")))
    assert isinstance(raw.read_until(7), Failed)
    assert raw.end() == 0


def test_a_request_under_way_is_cancelled_and_the_next_one_is_done(raw, tmp_path):
    data = write_pictures(tmp_path / "data", {"a": [1], "b": [3]})
    for number in range(4_000):
        os.link(data / "a/00.png", data / "a" / f"copy_{number}.png")
    request = DescribeData(id=1, source="folder", params={"path": str(data)})
    raw.send(encode_request(request), encode_request(Cancel(id=2, target=1)))
    final = {}
    while len(final) < 2:
        answer = raw.read()
        if not isinstance(answer, Progress | Hello):
            final[answer.id] = answer
    assert final[1].error.what == "Canceled."
    assert isinstance(final[2], Done)
    raw.send(encode_request(Cancel(id=3, target=1)))
    assert "already finished" in raw.read_until(3).text
    assert raw.end() == 0


def test_a_number_that_is_in_use_is_refused(raw, tmp_path):
    data = write_pictures(tmp_path / "data", {"a": [1], "b": [3]})
    line = encode_request(DescribeData(id=1, source="folder", params={"path": str(data)}))
    raw.send(line, line)
    raw.read()
    answers = [raw.read_until(1), raw.read_until(1)]
    kinds = {type(answer) for answer in answers}
    assert kinds == {Failed, DataDescription}
    assert raw.end() == 0


def test_closing_its_input_ends_a_busy_worker_and_removes_its_folder(raw, tmp_path):
    data = write_pictures(tmp_path / "data", {"a": [1], "b": [3]})
    for number in range(4_000):
        os.link(data / "a/00.png", data / "a" / f"copy_{number}.png")
    raw.send(encode_request(DescribeData(id=1, source="folder", params={"path": str(data)})))
    raw.process.stdin.close()
    answers = [decode_answer(line) for line in raw.process.stdout]
    assert isinstance(answers[-1], Failed | DataDescription)
    assert raw.process.wait(60) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_terminated_worker_removes_its_folder(raw, tmp_path):
    raw.read()
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("workbench-service-*")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    raw.process.terminate()
    raw.process.wait(60)
    assert list(tmp_path.iterdir()) == []


def test_a_blocking_call_to_a_killed_worker_ends_in_words():
    with ServiceCall() as call:
        (first, *_) = call.answers(WarmUp(id=1, model="/no/such/run"))
        assert isinstance(first, Failed | Progress)
        os.kill(call.hello.pid, signal.SIGKILL)
        answers = list(call.answers(WarmUp(id=2, model="/no/such/run")))
    assert len(answers) == 1
    assert answers[0].id == 2
    assert "killed (signal 9)" in answers[0].error.what


def test_folders_of_ended_workers_are_swept_and_those_of_running_ones_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ended = tmp_path / "workbench-service-ended"
    ended.mkdir()
    (ended / "lock").touch()
    (ended / "1-input.png").touch()
    stranger = tmp_path / "workbench-service-stranger"
    stranger.mkdir()  # no lock inside: just being made, or not ours
    (tmp_path / "workbench-service-link").symlink_to(stranger)
    with SessionFolder() as running:
        assert not ended.exists()
        assert tempfile.gettempdir() == os.environ["TMPDIR"] == str(running.path)
        sweep_session_folders()
        assert running.path.is_dir()
        lock = os.open(running.path / "lock", os.O_RDWR)
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(lock)
    assert not running.path.exists()
    assert tempfile.gettempdir() == str(tmp_path)
    assert os.environ.get("TMPDIR") != str(running.path)
    assert stranger.is_dir()
