"""Folders of pictures: what is recognised, and each mistake in words."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tests.contexts import CancelledForTest, PlainContext
from workbench.core.specs import LoadedData
from workbench.datasets import all_datasets
from workbench.errors import DatasetError
from workbench.pictures.png import png_bytes

PNG = png_bytes(np.zeros((2, 2, 3), np.uint8))


def fill(root: Path, counts: dict[str, int]) -> Path:
    for name, count in counts.items():
        (root / name).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            (root / name / f"{number}.png").write_bytes(PNG)
    return root


def load(path: object, ctx: PlainContext | None = None) -> LoadedData:
    spec = all_datasets()["folder"]
    return spec.load(ctx or PlainContext(Path("unused")), {"path": str(path), "fit": "crop"})


def test_one_folder_a_class(tmp_path):
    data = load(fill(tmp_path, {"class10": 3, "class9": 2, ".hidden": 4, "__MACOSX": 1}))
    assert data.class_names == ("class9", "class10")
    assert data.train.labels.tolist() == [0, 0, 1, 1, 1]
    assert [Path(path).parent.name for path in data.train.paths] == ["class9"] * 2 + ["class10"] * 3
    assert data.test is None
    assert data.notes == (
        "4 images in “.hidden”, a folder that is hidden or of the system: not used.",
    )


def test_the_flowers(shared_data):
    data = load(shared_data / "flowers")
    assert data.class_names == ("daisy", "dandelion", "roses", "sunflowers", "tulips")
    assert np.bincount(data.train.labels).tolist() == [621, 886, 629, 687, 787]


@pytest.mark.parametrize("names", [("train", "test"), ("Training", "VAL"), ("train", "validation")])
def test_train_and_test_folders(tmp_path, names):
    fill(tmp_path / names[0], {"a": 3, "b": 2})
    fill(tmp_path / names[1], {"b": 1, "a": 2, "c": 1})
    (tmp_path / "extras").mkdir()
    data = load(tmp_path)
    assert data.class_names == ("a", "b")
    assert data.train.labels.tolist() == [0, 0, 0, 1, 1]
    assert data.test.labels.tolist() == [0, 0, 1]
    assert (
        f"Folder “{names[1]}/c” with 1 image matches no training class and is not used."
        in data.notes
    )
    assert "Folder “extras” has no images and is ignored." in data.notes
    (inference,) = data.inferences
    assert inference.is_doubtful
    assert inference.value == f"train (“{names[0]}”), test (“{names[1]}”)"


def test_three_parts_of_which_val_validates(tmp_path):
    for part, count in [("train", 3), ("val", 2), ("test", 1)]:
        fill(tmp_path / part, {"a": count, "b": count})
    data = load(tmp_path)
    assert [len(part) for part in data.parts] == [6, 2, 4]
    assert data.validation.labels.tolist() == [0, 0, 1, 1]
    assert data.notes == ()


def test_a_train_may_be_a_class(tmp_path):
    data = load(fill(tmp_path, {"car": 2, "train": 3, "test": 2}))
    assert data.class_names == ("car", "test", "train")


def test_only_a_train_folder(tmp_path):
    fill(tmp_path / "train", {"a": 2, "b": 2})
    data = load(tmp_path)
    assert data.class_names == ("a", "b")
    assert data.test is None


def test_classes_may_be_nested_and_names_foreign(tmp_path):
    fill(tmp_path, {"Löwenzahn & Co": 1, "b/inner": 2})
    data = load(tmp_path)
    assert data.class_names == ("b", "Löwenzahn & Co")
    assert len(data.train) == 3


def test_classes_at_any_depth_are_the_folders_that_hold_images(tmp_path):
    fill(
        tmp_path,
        {"plants/roses": 2, "plants/trees/oak": 1, "animals/cat": 3, "animals/cat/indoors": 1},
    )
    data = load(tmp_path)
    assert data.class_names == ("cat", "roses", "oak")
    assert np.bincount(data.train.labels).tolist() == [4, 2, 1]


def test_repeated_names_of_inner_folders_carry_the_folders_around_them(tmp_path):
    fill(tmp_path, {"north/old": 1, "north/young": 2, "south/old": 3, "south/far/young": 1})
    assert load(tmp_path).class_names == ("north/old", "north/young", "far/young", "south/old")


def test_parts_inside_of_each_class(tmp_path):
    for name in ("roses", "tulips"):
        fill(tmp_path / name, {"train": 3, "Valid": 1, "test": 2})
    data = load(tmp_path)
    assert data.class_names == ("roses", "tulips")
    assert [len(part) for part in data.parts] == [6, 4, 2]
    assert all("/test/" in path for path in data.test.paths)


def test_parts_hold_classes_at_any_depth_too(tmp_path):
    for part in ("train", "test"):
        fill(tmp_path / part, {"plants/roses": 2, "animals/cat": 1})
    data = load(tmp_path)
    assert data.class_names == ("cat", "roses")
    assert data.test.labels.tolist() == [0, 1, 1]


def test_a_folder_around_the_classes_is_looked_through(tmp_path):
    fill(tmp_path / "download" / "flower_photos", {"roses": 2, "tulips": 1, "__MACOSX/roses": 2})
    (tmp_path / "download" / "readme.txt").write_text("about")
    assert load(tmp_path).class_names == ("roses", "tulips")


def test_what_is_left_out_is_noted(tmp_path):
    fill(tmp_path, {"a": 2, "b": 2, ".ipynb_checkpoints": 3, "@eaDir": 1, "a/.thumbs": 1})
    for name in ("1.png", "2.png", "Thumbs.db", "._3.png"):
        (tmp_path / name).write_bytes(PNG)
    data = load(tmp_path)
    assert len(data.train) == 4
    assert data.notes == ("2 images outside class folders are not used.",)


def test_links_end_and_are_noted(tmp_path):
    root, elsewhere = fill(tmp_path / "root", {"a": 2, "b": 2}), tmp_path / "elsewhere"
    fill(elsewhere, {"c": 3})
    (root / "c").symlink_to(elsewhere / "c")  # where people put class folders together
    (root / "loop").symlink_to(root)
    (root / "a" / "out").symlink_to(elsewhere)
    data = load(root)
    assert data.class_names == ("a", "b", "c")
    assert np.bincount(data.train.labels).tolist() == [2, 2, 3]
    assert data.notes == ("2 inner folders: links, not used.",)


def test_folders_without_end_are_refused(tmp_path):
    deep = tmp_path.joinpath(*["d"] * 120)
    fill(deep, {"a": 1})
    with pytest.raises(DatasetError, match="nested too deeply"):
        load(tmp_path)


def test_listing_opens_no_image_named_as_one(tmp_path):
    fill(tmp_path, {"a": 3, "b": 3})
    (tmp_path / "a" / "0.png").chmod(0)
    (tmp_path / "a" / "empty.jpg").touch()
    assert len(load(tmp_path).train) == 7


def test_hidden_images_are_counted_and_not_those_of_systems(tmp_path):
    fill(tmp_path, {"a": 3, "b": 3})
    for name in (".hidden.png", "._0.png", ".DS_Store", ".notes.txt"):
        (tmp_path / "a" / name).write_text("no image")
    (tmp_path / "b" / ".1.jpg").touch()
    data = load(tmp_path)
    assert len(data.train) == 6
    assert data.notes == ("2 image files hidden by a dot before the name: not used.",)


def test_empty_and_single_classes_are_noted(tmp_path):
    data = load(fill(tmp_path, {"a": 3, "b": 1, "empty": 0}))
    assert data.class_names == ("a", "b")
    assert any("“empty” has no images" in note for note in data.notes)
    assert any("“b” has only one image" in note for note in data.notes)


@pytest.mark.parametrize(
    ("make", "what", "received"),
    [
        (lambda root: root / "missing", "no such folder", ""),
        (lambda root: "", "No folder has been chosen", ""),
        (lambda root: root / ("x" * 300), "cannot be opened", ""),
        (lambda root: fill(root, {}), "contains no class folders", "no folders"),
        (
            lambda root: fill(root, {"a": 0, "b": 0}),
            "contains no class folders",
            "2 folders without",
        ),
        (lambda root: fill(root, {"a": 3}), "only one class", "3 images of one class"),
        (
            lambda root: fill(root, {"x": 2, "y": 2}) / "x",
            "contains no class folders",
            "2 images outside",
        ),
        (lambda root: fill(root, {"x": 1}) / "x" / "0.png", "file, not a folder", ""),
    ],
)
def test_mistakes(tmp_path, make, what, received):
    with pytest.raises(DatasetError, match=what) as caught:
        load(make(tmp_path))
    assert received in caught.value.received
    assert caught.value.expected


def test_listing_can_be_cancelled(tmp_path):
    fill(tmp_path, {"a": 1, "b": 1, "c": 1})
    with pytest.raises(CancelledForTest):
        load(tmp_path, PlainContext(tmp_path, cancel_after=1))


def test_names_that_are_no_text_can_be_stored(tmp_path):
    for name in (b"caf\xe9", b"a\x1b[31m\n", b"\xe2\x80\xaeb"):
        folder = os.fsdecode(os.fsencode(tmp_path) + b"/" + name)
        Path(folder).mkdir()
        Path(folder, "1.png").write_bytes(PNG)
        Path(folder, os.fsdecode(b"\xff.png")).write_bytes(PNG)
    data = load(tmp_path)
    assert sorted(data.class_names) == ["?b", "a?[31m?", "caf?"]
    assert len(data.train) == 6


@pytest.mark.parametrize(
    ("image", "mask"),
    [
        ("{} ({})", "{} ({})_mask"),
        ("{} ({})", "{} ({})_mask_1"),
        ("{}{}_rgb", "{}{}_depth"),
        ("{}_{}", "{}_{}-seg"),
        ("{}.{}.Image", "{}.{}.GT"),
        ("{}{}", "mask_{}{}"),
    ],
)
def test_masks_beside_their_images_are_set_aside(tmp_path, image, mask):
    for name in ("benign", "normal"):
        (tmp_path / name).mkdir()
        for number in range(3):
            for stem in (image, mask):
                (tmp_path / name / f"{stem.format(name, number)}.png").write_bytes(PNG)
    data = load(tmp_path)
    names = {Path(path).stem for path in data.train.paths}
    assert names == {image.format(n, k) for n in ("benign", "normal") for k in range(3)}
    said = next(each for each in data.inferences if each.key == "aside_files")
    assert (said.doubt, said.param) == ("They are 6 images.", "aside")
    spec = all_datasets()["folder"]
    params = {"path": str(tmp_path), "aside": said.options[0].value}
    assert len(spec.load(PlainContext(Path("unused")), params).train) == 12


@pytest.mark.parametrize("stems", [("1_mask", "2_mask"), ("mask", "no_mask"), ("a_label", "b")])
def test_names_of_masks_without_their_images_are_images(tmp_path, stems):
    for name in ("with", "without"):
        (tmp_path / name).mkdir()
        for stem in stems:
            (tmp_path / name / f"{stem}.png").write_bytes(PNG)
    assert len(load(tmp_path).train) == 4
