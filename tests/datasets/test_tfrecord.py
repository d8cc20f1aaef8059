"""TFRecord files: features found, frames compared, addresses, and every damage in words."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contexts import CancelledForTest, PlainContext
from tests.web_server import web_server
from tests.written_records import example, frame, write_records
from workbench.core.specs import LoadedData
from workbench.datasets import all_datasets
from workbench.datasets._records import parts as places
from workbench.datasets._records.frames import (
    BadExampleError,
    masked_checksum,
    masked_checksums,
    read_example,
)
from workbench.datasets._records.parts import file_parts
from workbench.errors import DatasetError
from workbench.pictures.png import png_bytes

PNG = png_bytes(np.zeros((2, 2, 3), np.uint8))


@pytest.fixture
def ctx(tmp_path) -> PlainContext:
    (tmp_path / "cache").mkdir()
    return PlainContext(tmp_path / "cache")


def load(path: object, ctx: PlainContext, **params: str) -> LoadedData:
    return all_datasets()["tfrecord"].load(ctx, {"path": str(path), **params})


def flower(name: str, number: int) -> dict:
    """A record as the flower lab writes it."""
    one_hot = [0.0] * 5
    one_hot[number] = 1.0
    return {
        "image": PNG + name.encode(),
        "class": number,
        "label": name.encode(),
        "size": [2, 2],
        "one_hot_class": one_hot,
    }


FLOWERS = [flower("roses", 2), flower("daisy", 0), flower("roses", 2)]


def test_checksums_are_those_of_the_standard():
    # RFC 3720, appendix B.4, before they are masked.
    known = {bytes(32): 0x8A9136AA, b"\xff" * 32: 0x62A8AB43, bytes(range(32)): 0x46DD794E,
             b"123456789": 0xE3069283, b"": 0}  # fmt: skip
    masks = [((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF for crc in known.values()]
    assert masked_checksums(list(known)) == masks
    assert [masked_checksum(piece) for piece in known] == masks


@given(st.lists(st.binary(max_size=2000), max_size=6))
@settings(max_examples=40, deadline=None)
def test_many_checksums_at_once_are_those_of_each(pieces):
    assert masked_checksums(pieces) == [masked_checksum(piece) for piece in pieces]


def test_records_of_the_flower_lab(tmp_path, ctx):
    data = load(write_records(tmp_path / "flowers.tfrec", FLOWERS), ctx)
    assert data.class_names == ("daisy", "roses")
    assert data.train.labels.tolist() == [1, 0, 1]
    assert [Path(path).read_bytes() for path in data.train.paths] == [
        each["image"] for each in FLOWERS
    ]
    assert [each.value for each in data.inferences] == ["image", "label"]
    assert "class" in data.inferences[1].evidence  # the numbers of the same classes
    ctx.reported.clear()
    assert load(tmp_path / "flowers.tfrec", ctx).train.paths == data.train.paths
    assert ctx.reported == []


@pytest.mark.parametrize(
    ("features", "names"),
    [
        (
            {"image/encoded": PNG, "image/class/label": 7, "image/class/text": b"oak"},
            ("fir", "oak"),
        ),
        ({"image/encoded": PNG, "image/class/label": 7}, ("3", "7")),
        ({"image": PNG, "label": 10}, ("3", "10")),
        ({"picture": PNG, "name": b"x", "one_hot": [0, 1, 0]}, ("0", "1")),
    ],
)
def test_features_are_found_in_the_first_record(tmp_path, ctx, features, names):
    other = dict(features)
    for key, value in features.items():
        if isinstance(value, int):
            other[key] = 3
        elif isinstance(value, list):
            other[key] = [1, 0, 0]
        elif value == b"oak":
            other[key] = b"fir"
    assert load(write_records(tmp_path / "a.tfrec", [features, other]), ctx).class_names == names


def test_features_may_be_chosen(tmp_path, ctx):
    path = write_records(tmp_path / "a.tfrec", FLOWERS)
    assert load(path, ctx, label="class").class_names == ("0", "2")
    assert load(path, ctx, label="one_hot_class").class_names == ("0", "2")
    for params in ({"label": "kind"}, {"image": "photo"}):
        with pytest.raises(DatasetError, match="no feature") as caught:
            load(path, ctx, **params)
        assert "one_hot_class (5 × float)" in caught.value.received


def test_several_files_and_their_parts(tmp_path, ctx):
    for name, records in [
        ("flowers-train-00000-of-00002.tfrecord", FLOWERS[:1]),
        ("flowers-train-00001-of-00002.tfrecord", FLOWERS[1:2]),
        ("flowers-validation.tfrecord.gz", FLOWERS[2:]),
    ]:
        path = write_records(tmp_path / "in" / name, records)
        if name.endswith(".gz"):
            path.write_bytes(gzip.compress(path.read_bytes()))
    for source in (tmp_path / "in", tmp_path / "in" / "*.tfrecord*"):
        data = load(source, ctx)
        assert data.train.labels.tolist() == [1, 0]
        assert data.validation.labels.tolist() == [1]
    only = load(tmp_path / "in" / "flowers-train-*", ctx)
    assert (len(only.train), only.validation) == (2, None)


def test_a_part_without_labels_is_left_out_with_a_note(tmp_path, ctx):
    write_records(tmp_path / "in" / "a_test.tfrec", [{"image": PNG, "id": b"7"}] * 5)
    write_records(tmp_path / "in" / "b_train.tfrec", FLOWERS)
    data = load(tmp_path / "in", ctx)
    assert (len(data.train), data.test) == (3, None)
    unused = "class (whole number), size (2 × whole number), one_hot_class (5 × float)"
    assert data.notes == (
        "Records without labels, not used: 5 (all of a_test.tfrec).",
        f"Features not used: {unused}.",
    )
    assert data.bad_files == ()


def test_labels_of_minus_one_are_missing(tmp_path, ctx):
    records = [{"image": PNG, "label": number} for number in (0, 1, 1, -1)]
    data = load(write_records(tmp_path / "a.tfrec", records), ctx)
    assert data.class_names == ("0", "1")
    (missing,) = (each for each in data.inferences if each.key == "missing_labels")
    assert (missing.evidence, missing.is_doubtful) == ("1 record, not used", True)


def test_two_images_in_a_record_are_a_doubt(tmp_path, ctx):
    records = [{**each, "mask": PNG} for each in FLOWERS]
    data = load(write_records(tmp_path / "a.tfrec", records), ctx)
    (image,) = (each for each in data.inferences if each.key == "image_feature")
    assert (image.value, image.options[0].value) == ("image", "mask")
    assert image.is_doubtful


def test_records_without_image_or_label_are_listed(tmp_path, ctx):
    records = [*FLOWERS, {"label": b"daisy"}, {"image": PNG}, {"image": [PNG, PNG], "label": b"x"}]
    path = write_records(tmp_path / "a.tfrec", records)
    path.write_bytes(path.read_bytes() + frame(b"no example"))
    data = load(path, ctx)
    assert len(data.train) == 3
    assert [name for name, _ in data.bad_files] == [f"a.tfrec, record {n}" for n in (3, 4, 5, 6)]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"text that is longer than a head", "no TFRecord file"),
        (frame(b"x")[:9], "cut off"),
        (frame(example(FLOWERS[0]))[:-3], "cut off"),
        (frame(example(FLOWERS[0])).replace(b"roses", b"tulip"), "wrong checksum"),
        (struct.pack("<Q", 1 << 40) + struct.pack("<I", masked_checksum(struct.pack("<Q", 1 << 40))),
         "a record of"),
        (gzip.compress(frame(example(FLOWERS[0])))[:-20], "damaged gzip"),
        (frame(example({"a": 1, "b": b"text"})), "encoded image"),
        (frame(example({"image": PNG, "x": 1.5})), "label"),
        (frame(b"\xff\xff"), "cannot be used"),
    ],
)  # fmt: skip
def test_damaged_files(tmp_path, ctx, data, words):
    path = tmp_path / "a.tfrec"
    path.write_bytes(data)
    with pytest.raises(DatasetError, match=words) as caught:
        load(path, ctx)
    assert str(path) in caught.value.where
    assert not any(entry.is_dir() for entry in (tmp_path / "cache" / "archives").iterdir())


def test_a_damage_in_the_middle_is_named(tmp_path, ctx):
    path = write_records(tmp_path / "a.tfrec", FLOWERS)
    data = bytearray(path.read_bytes())
    data[-20] ^= 1
    path.write_bytes(data)
    with pytest.raises(DatasetError, match="wrong checksum") as caught:
        load(path, ctx)
    place = len(data) - len(frame(example(FLOWERS[2])))
    assert caught.value.received == f"record 2, at byte {place:,}"


def test_a_bomb_is_refused(tmp_path, ctx):
    path, num_pieces = tmp_path / "a.tfrec.gz", 600
    length = struct.pack("<Q", num_pieces << 20)
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(length + struct.pack("<I", masked_checksum(length)))
        for _ in range(num_pieces):
            file.write(bytes(1 << 20))
    with pytest.raises(DatasetError, match="a record of"):
        load(path, ctx)


def test_one_class_and_no_files(tmp_path, ctx):
    write_records(tmp_path / "a.tfrec", FLOWERS[:1])
    with pytest.raises(DatasetError, match="fewer than two classes"):
        load(tmp_path / "a.tfrec", ctx)
    for text in ("", str(tmp_path / "b*.tfrec"), str(tmp_path / "gone.tfrec"), "/" + "x" * 300,
                 "s3://bucket/x", "gs://"):  # fmt: skip
        with pytest.raises(DatasetError):
            load(text, ctx)


def test_canceling_leaves_nothing(tmp_path):
    path = write_records(tmp_path / "a.tfrec", FLOWERS)
    with pytest.raises(CancelledForTest):
        load(path, PlainContext(tmp_path / "c", cancel_after=1))
    assert not any(entry.is_dir() for entry in (tmp_path / "c" / "archives").iterdir())


@given(data=st.binary(max_size=120))
@settings(max_examples=300)
def test_any_bytes_are_an_example_or_a_message(data):
    try:
        read_example(data)
    except BadExampleError as error:
        assert str(error)  # noqa: PT017 - either way is right


@given(place=st.integers(0, 400), value=st.integers(0, 255))
@settings(max_examples=300)
def test_altered_examples_are_read_or_refused(place, value):
    data = bytearray(example(FLOWERS[0]))
    data[place % len(data)] = value
    try:
        read_example(bytes(data))
    except BadExampleError as error:
        assert str(error)  # noqa: PT017 - either way is right


# addresses -------------------------------------------------------------------------------


def test_an_address_is_fetched_once(tmp_path, ctx, monkeypatch):
    monkeypatch.delenv("http_proxy", raising=False)
    data = write_records(tmp_path / "a.tfrec", FLOWERS).read_bytes()
    with web_server() as server:
        server.put("data/a.tfrec", data)
        address = f"{server.address}/data/a.tfrec"
        first = load(address, ctx)
        assert load(address, ctx).train.paths == first.train.paths
        assert len(server.asked) == 1
    assert first.class_names == ("daisy", "roses")


def test_a_pattern_in_a_bucket_is_listed(tmp_path, ctx, monkeypatch):
    monkeypatch.delenv("http_proxy", raising=False)
    fetched: list[str] = []
    names = ["flowers/a.txt", "flowers/train-1.tfrec", "flowers/test-1.tfrec"]
    contents = {name: write_records(tmp_path / name, FLOWERS).read_bytes() for name in names[1:]}

    def fetch(download, path, _ctx, *, max_bytes):
        fetched.append(download.address)
        is_list = "/storage/v1/" in download.address
        page = json.dumps({"items": [{"name": name} for name in names]}).encode()
        name = "/".join(download.address.rsplit("/", 2)[1:])
        path.write_bytes(page if is_list else contents[name])

    monkeypatch.setattr(places, "fetch_unknown", fetch)  # no test contacts Google's computers
    data = load("gs://bucket/flowers/*.tfrec", ctx)
    assert len(data.train) == len(data.test) == 3
    assert fetched[0].startswith(
        "https://storage.googleapis.com/storage/v1/b/bucket/o?prefix=flowers"
    )
    assert sorted(fetched[1:]) == [
        f"https://storage.googleapis.com/bucket/{name}" for name in sorted(names[1:])
    ]


def test_which_computers_an_address_names():
    addresses = all_datasets()["tfrecord"].addresses
    assert addresses({"path": "/here/a.tfrec"}) == ()
    assert addresses({"path": "https://me:word@example.org:81/a.tfrec"}) == ("example.org:81",)
    assert addresses({"path": "gs://bucket/a"}) == ("storage.googleapis.com",)


@pytest.mark.parametrize(
    "text",
    ["HTTP://stranger/x", "Https://stranger/x", " http://stranger/x", "\thttp://stranger/x",
     "ht\ntp://stranger/x", "\0http://stranger/x", "GS://stranger/x", " gs://stranger/x",
     "http://[stranger/x", "http:///stranger/x", "//stranger/x://", "http:stranger://x"],
)  # fmt: skip
def test_what_is_contacted_is_named_however_it_is_written(text, ctx, monkeypatch):
    fetched: list[str] = []

    def fetch(download, *_, **__):
        fetched.append(download.address)
        raise DatasetError("Not fetched.")

    monkeypatch.setattr(places, "fetch_unknown", fetch)
    with contextlib.suppress(DatasetError):
        load(text, ctx)
    assert not fetched or all_datasets()["tfrecord"].addresses({"path": text})


def test_the_identity_of_entries_is_the_content(tmp_path, ctx):
    path = write_records(tmp_path / "a.tfrec", FLOWERS)
    first = load(path, ctx).train.paths
    path.write_bytes(path.read_bytes())
    assert load(path, ctx).train.paths == first
    assert hashlib.sha256(path.read_bytes()).hexdigest() not in first[0]
    write_records(path, [*FLOWERS, flower("tulips", 4)])
    assert load(path, ctx).class_names == ("daisy", "roses", "tulips")


# labels ----------------------------------------------------------------------------------


def doubt(data: LoadedData, key: str):
    """The only inference of a kind, which is doubtful."""
    (found,) = (each for each in data.inferences if each.key == key)
    assert found.is_doubtful
    return found


def labeled(folder: Path, labels: list, name: str = "a.tfrec", **others) -> Path:
    """A file with a record for each label; those that are None have no such feature."""
    records = [
        {"image": PNG, **others, **({} if label is None else {"label": label})} for label in labels
    ]
    return write_records(folder / name, records)


def test_bytes_that_are_no_utf8_keep_their_classes(tmp_path, ctx):
    names = ("łaba", "pies", "żaba")
    path = labeled(tmp_path, [name.encode("cp1250") for name in names] * 3)
    data = load(path, ctx)
    assert np.bincount(data.train.labels).tolist() == [3, 3, 3]
    assert set(data.class_names) == set(names)
    assert "cp1251" in [each.value for each in doubt(data, "encoding").options]
    assert set(load(path, ctx, encoding="cp1250").class_names) == set(names)
    late = labeled(tmp_path, [b"dog", b"owl"] * 40 + ["żaba".encode("cp1250")], "b.tfrec")
    assert len(load(late, ctx).class_names) == 3


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([0, 1, 2, [0, 1]] * 3, "Records have several labels"),
        ([[1, 2], 1, 0, 0] * 3, "Records have several labels"),
        ([[0, 1], [1, 2], [0, 2]] * 4, "2 values"),
        ([[0, 1, 0], [1, 1, 0]] * 4, "3 values"),
        ([[0, 1], [0, 0, 1]] * 4, "several in others"),
        ([[b"cat", b"dog"], b"cat", b"dog"] * 4, "Records have several labels"),
        ([0.5, 1.5] * 4, "not a whole number"),
        ([b"", b"", b"cat"] * 4, "is empty"),
        ([b"\x00\xff", b"\x01\xff"] * 4, "no text"),
    ],
)
def test_what_is_not_one_label_is_refused_with_the_reason(tmp_path, ctx, labels, words):
    path = labeled(tmp_path, labels)
    with pytest.raises(DatasetError, match=words) as caught:
        load(path, ctx)
    assert "label" in f"{caught.value.what} {caught.value.received}"
    assert caught.value.fix


def test_few_records_with_several_labels_are_counted(tmp_path, ctx):
    path = labeled(tmp_path, [0, 1] * 30 + [[0, 1]])
    data = load(path, ctx)
    assert np.bincount(data.train.labels).tolist() == [30, 30]
    assert data.bad_files == (("a.tfrec, record 60", "It has 2 values in the feature “label”."),)
    assert "1 have several" in doubt(data, "unlabeled").doubt
    hot = labeled(tmp_path, [[0, 1], [1, 0]] * 40 + [[1, 1], [0, 0], 1], "b.tfrec")
    reasons = [reason for _, reason in load(hot, ctx).bad_files]
    assert reasons == [
        "It has several labels in the feature “label”.",
        *["It has no one-hot label of 2 classes in the feature “label”."] * 2,
    ]


def test_text_that_some_records_lack_is_not_the_label(tmp_path, ctx):
    texts = [b"cat", b"dog", b""]
    records = [{"image": PNG, "label": n % 3, "text": texts[n % 3]} for n in range(12)]
    data = load(write_records(tmp_path / "a.tfrec", records), ctx)
    assert np.bincount(data.train.labels).tolist() == [4, 4, 4]
    found = doubt(data, "label_feature")
    assert (found.value, found.options[0].value) == ("label", "text")
    assert "4 of 12 records lack it" in found.doubt
    told = load(tmp_path / "a.tfrec", ctx, label="text")
    assert "empty text" in doubt(told, "missing_labels").value


@pytest.mark.parametrize("word", [b"nan", b"None", b"N/A"])
def test_words_for_a_missing_label_are_no_class(tmp_path, ctx, word):
    path = labeled(tmp_path, [b"cat", b"dog", word] * 3)
    data = load(path, ctx)
    assert data.class_names == ("cat", "dog")
    found = doubt(data, "missing_labels")
    assert found.evidence == "3 records, not used"
    assert len(load(path, ctx, missing=found.options[0].value).class_names) == 3


def test_which_numbers_mean_no_label_can_be_set(tmp_path, ctx):
    path = labeled(tmp_path, [0, 1, -1] * 3)
    assert load(path, ctx, missing="none").class_names == ("-1", "0", "1")
    filled = labeled(tmp_path, [0, 1, 255] * 3, "b.tfrec")
    found = doubt(load(filled, ctx), "missing_labels")
    assert load(filled, ctx, missing=found.options[0].value).class_names == ("0", "1")


def test_labels_of_other_case_can_be_one_class(tmp_path, ctx):
    path = labeled(tmp_path, [b"Cat", b"cat", b"dog"] * 3)
    found = doubt(load(path, ctx), "look_alikes")
    merged = load(path, ctx, **{found.param: found.options[0].value})
    assert np.bincount(merged.train.labels).tolist() == [6, 3]


def test_classes_of_the_test_part_alone_are_a_doubt(tmp_path, ctx):
    labeled(tmp_path / "in", [0, 1] * 3, "train.tfrec")
    labeled(tmp_path / "in", [1, 2] * 3, "test.tfrec")
    found = doubt(load(tmp_path / "in", ctx), "untrained_classes")
    assert (found.value, "count from 1" in found.doubt) == ("“2”", True)


def test_what_is_not_named_as_a_label_is_a_doubt(tmp_path, ctx):
    records = [{"image": PNG, "type": number % 2} for number in range(8)]
    found = doubt(load(write_records(tmp_path / "a.tfrec", records), ctx), "label_feature")
    assert "by its name" not in found.evidence


# parts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "parts", "is_doubtful"),
    [
        ("mnist_test_train mnist_test_test", "train test", False),
        ("test2021-train test2021-test", "train test", False),
        ("test/test-0 test/train-0", "test train", False),
        ("train/00 val/00", "train validation", False),
        ("train eval test", "train validation test", False),
        ("train eval", "train test", False),
        ("train_val test", "train test", False),
        ("train test testdev", "train test test", False),
        ("train-0 train-1", "train train", False),
        ("test-0 test-1", "train train", False),
        ("contest latest", "train train", False),
        ("train other test", "train train test", True),
        ("a-training-b a-inference", "train test", False),
        ("train_test_0 train val", "test train validation", True),
    ],
)
def test_the_part_is_the_word_that_differs(files, parts, is_doubtful):
    paths = [Path("/data/test/dev", f"{name}.tfrecord") for name in files.split()]
    found = file_parts(paths)
    assert [found.of[path] for path in paths] == parts.split()
    said = list(found.inferences(paths))
    assert len(said) == (len({*parts.split()}) > 1 or is_doubtful)
    assert any(each.is_doubtful for each in said) == is_doubtful
    assert {*file_parts(paths, "none").of.values()} == {"train"}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("split", (b"train", b"test")),
        ("image/split", (b"training", b"valid")),
        ("is_test", (0, 1)),
        ("istrain", (1, 0)),
        ("usage", (b"Training", b"PublicTest")),
    ],
)
def test_a_feature_says_the_part(tmp_path, ctx, name, values):
    records = [{"image": PNG, "label": n % 2, name: values[n >= 6]} for n in range(10)]
    path = write_records(tmp_path / "a.tfrec", records)
    data = load(path, ctx)
    assert (len(data.train), len(data.test or data.validation or ())) == (6, 4)
    (found,) = (each for each in data.inferences if each.key == "split_feature")
    assert (found.value, found.is_doubtful) == (name, False)
    assert len(load(path, ctx, **{found.param: found.options[0].value}).train) == 10


def test_a_feature_that_is_no_split_after_all(tmp_path, ctx):
    records = [{"image": PNG, "label": n % 2, "split": [b"a", b"b", b"c"][n % 3]} for n in range(9)]
    data = load(write_records(tmp_path / "a.tfrec", records), ctx)
    assert (len(data.train), data.test) == (9, None)
    assert doubt(data, "split_feature").value == "none"
    assert data.notes == ("Features not used: split (bytes).",)
    mixed = [{**each, "split": b"test"} if n < 3 else each for n, each in enumerate(records)]
    path = write_records(tmp_path / "b.tfrec", mixed)
    with pytest.raises(DatasetError, match="unknown word"):
        load(path, ctx)
    assert len(load(path, ctx, split="none").train) == 9


def test_names_of_numbers_are_found_and_other_labels_are_doubts(tmp_path, ctx):
    names = (b"cat", b"dog", b"fox")
    records = [
        {"image": PNG, "image/object/class/label": n % 3, "animal_text": names[n % 3]}
        for n in range(9)
    ]
    data = load(write_records(tmp_path / "a.tfrec", records), ctx)
    assert data.class_names == ("cat", "dog", "fox")
    noisy = [{"image": PNG, "label": n % 3, "label_noisy": (n + n // 3) % 3} for n in range(9)]
    found = doubt(load(write_records(tmp_path / "b.tfrec", noisy), ctx), "label_feature")
    assert (found.value, found.options[0].value) == ("label", "label_noisy")
    levels = [{"image": PNG, "coarse_label": n % 4 // 2, "fine_label": n % 4} for n in range(12)]
    found = doubt(load(write_records(tmp_path / "c.tfrec", levels), ctx), "label_feature")
    assert (found.value, found.options[0].value) == ("fine_label", "coarse_label")


def test_whole_numbers_as_floats_are_labels(tmp_path, ctx):
    assert load(labeled(tmp_path, [0.0, 1.0, 2.0] * 3), ctx).class_names == ("0", "1", "2")
