"""What each rule finds in real files, through the same reading as in the service."""

from __future__ import annotations

import numpy as np
import pytest
import tifffile
from PIL import Image

from tests.class_folders import smooth_photo, write_photos
from tests.contexts import CancelledForTest, PlainContext
from tests.planted_images import KINDS, outcome, plant
from workbench.core.data_check.findings import MAX_IMAGES
from workbench.core.params import defaults
from workbench.core.specs import ArrayPart, LoadedData
from workbench.core.training.recipe import TrainingRecipe
from workbench.data_checks import all_data_checks
from workbench.datasets import all_datasets
from workbench.pictures.survey import survey_of

NONE: dict[str, str] = {}


@pytest.fixture
def folder(tmp_path):
    """Two classes of six images each, in which nothing is to be found."""
    return write_photos(tmp_path / "data", 6)


def survey(folder, classes=NONE, **recipe):
    spec = all_datasets()["folder"]
    ctx = PlainContext(folder.parent / "cache")
    loaded = spec.load(ctx, {**defaults(spec.params), "path": str(folder)})
    return survey_of(loaded, classes, TrainingRecipe().with_values(**recipe), ctx)


def found(folder, rule=None, **more):
    """The findings of a rule, or of all of them."""
    rules = all_data_checks()
    seen = survey(folder, **more)
    chosen = [rules[rule]] if rule else [r for r in rules.values() if not r.needs_features]
    return [finding for each in chosen for finding in each.find(seen)]


def names(finding):
    return [image.file.rpartition("data/")[2] for image in finding.images]


def test_nothing_is_found_in_clean_images(folder):
    assert found(folder) == []


def test_unreadable_files_are_named_with_the_reason(folder):
    (folder / "cat" / "0.png").write_bytes((folder / "cat" / "0.png").read_bytes()[:300])
    (folder / "cat" / "1.png").write_bytes(b"")
    cut, empty = found(folder, "unreadable")
    assert (names(cut), names(empty)) == (["cat/0.png"], ["cat/1.png"])
    assert cut.message.startswith("The image file is cut off")
    assert empty.message.startswith("The image file is empty")
    assert cut.key != empty.key
    assert [action.key for action in cut.actions] == ["leave_out"], "nothing else makes sense"
    others = [each for each in found(folder) if each.rule != "unreadable"]
    assert not {"cat/0.png", "cat/1.png"} & {name for each in others for name in names(each)}


@pytest.mark.parametrize("names", [("daisy", "roses", "tulips"), ("0", "1", "2")])
def test_a_class_that_the_test_part_lacks_is_found(tmp_path, names):
    for place, (name, count) in enumerate(zip(names, (4, 0, 3), strict=True)):
        for part, number in (("train", 8), ("test", count)):
            for photo in range(number):
                path = tmp_path / "data" / part / name / f"{photo}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                smooth_photo(100 * place + 10 * (part == "test") + photo).save(path)
    (finding,) = found(tmp_path / "data")
    assert (finding.rule, finding.severity) == ("absent_class", "warning")
    assert f"The test part has no image of “{names[1]}”" in finding.message


def test_a_class_of_unreadable_files_or_of_one_image_is_found(folder):
    (folder / "ant").mkdir()
    (folder / "ant" / "0.png").write_bytes(b"no image")
    (absent,) = found(folder, "absent_class")
    assert absent.title == "No image of “ant” in the data set"
    smooth_photo(77).save(folder / "ant" / "0.png")
    test, validation = found(folder, "absent_class")
    assert (test.title, test.severity) == ("No image of “ant” in the test part", "warning")
    assert (validation.severity, "validation" in validation.title) == ("hint", True)


def test_a_wrong_extension_is_a_hint_and_the_image_is_read(folder):
    smooth_photo(99).save(folder / "dog" / "new.png", "JPEG")
    (hint,) = found(folder)
    assert (hint.rule, hint.severity, names(hint)) == ("wrong_extension", "hint", ["dog/new.png"])
    assert "the content is JPEG" in hint.message


def test_images_turned_by_exif_are_listed(folder):
    exif = Image.Exif()
    exif[0x0112] = 6
    smooth_photo(98).save(folder / "dog" / "turned.jpg", exif=exif)
    (hint,) = found(folder, "rotated")
    assert names(hint) == ["dog/turned.jpg"]
    assert (hint.images[0].width, hint.images[0].height) == (90, 120)  # upright


def test_gray_and_transparent_images_among_others_with_their_class(folder):
    for number in range(3):
        smooth_photo(90 + number).convert("L").save(folder / "dog" / f"gray{number}.png")
    clear = smooth_photo(97).convert("RGBA")
    clear.putalpha(120)
    clear.save(folder / "cat" / "clear.png")
    gray, transparent = found(folder, "mixed_channels")
    assert names(gray) == [f"dog/gray{number}.png" for number in range(3)]
    assert "100% of them are in class “dog”" in gray.message
    assert names(transparent) == ["cat/clear.png"]


def test_tiny_and_extreme_images_against_the_others(folder):
    smooth_photo(96, (9, 9)).save(folder / "cat" / "icon.png")
    smooth_photo(95, (600, 60)).save(folder / "dog" / "banner.png")
    tiny, wide = found(folder)
    assert (tiny.rule, tiny.title, names(tiny)) == ("tiny", "Only 9 × 9 pixels", ["cat/icon.png"])
    assert (wide.rule, names(wide)) == ("extreme_shape", ["dog/banner.png"])


def test_a_data_set_of_small_images_has_no_tiny_ones(tmp_path):
    assert found(write_photos(tmp_path / "data", 4, (16, 16)), "tiny") == []


def test_copies_of_any_form_are_found_once(folder):
    original = folder / "cat" / "3.png"
    (folder / "cat" / "same.png").write_bytes(original.read_bytes())
    image = Image.open(original)
    image.save(folder / "cat" / "worse.jpg", quality=40)
    image.resize((60, 45)).save(folder / "cat" / "small.png")
    image.transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(folder / "cat" / "mirrored.png")
    other = folder / "dog" / "2.png"
    (folder / "dog" / "again.png").write_bytes(other.read_bytes())
    exact, near = found(folder)
    assert (exact.rule, names(exact)) == ("duplicate", ["dog/2.png", "dog/again.png"])
    assert near.rule == "near_duplicate"
    assert set(names(near)) == {
        f"cat/{name}" for name in ("3.png", "same.png", "worse.jpg", "small.png", "mirrored.png")
    }
    assert "Some are mirrored" in near.message


def test_one_image_under_two_labels_is_an_error_with_the_labels_as_actions(folder):
    (folder / "dog" / "cat.png").write_bytes((folder / "cat" / "5.png").read_bytes())
    (finding,) = found(folder, "duplicate")
    assert (finding.severity, finding.title) == ("error", "One image in “cat” and “dog”")
    content = finding.images[0].content
    labels = [dict(action.labels) for action in finding.actions]
    assert labels[:2] == [{content: "cat"}, {content: "dog"}]
    assert all(action.once == (content,) for action in finding.actions[:2])


def test_an_image_in_two_classes_that_are_merged_is_a_mere_duplicate(folder):
    (folder / "dog" / "cat.png").write_bytes((folder / "cat" / "5.png").read_bytes())
    (finding,) = found(folder, "duplicate", classes={"cat": "pet", "dog": "pet"})
    assert {image.label for image in finding.images} == {"pet"}
    assert {image.source_label for image in finding.images} == {"cat", "dog"}
    assert not any(action.labels for action in finding.actions)


def test_images_of_a_class_that_is_left_out_are_not_looked_at(folder):
    (folder / "dog" / "again.png").write_bytes((folder / "dog" / "5.png").read_bytes())
    (folder / "cat" / "again.png").write_bytes((folder / "dog" / "5.png").read_bytes())
    (finding,) = found(folder, "duplicate", classes={"cat": ""})
    assert names(finding) == ["dog/5.png", "dog/again.png"]
    seen = survey(folder, classes={"cat": ""})
    assert [seen.image(row).index for row in range(3)] == [7, 8, 9]


def test_images_in_memory_of_a_class_that_is_left_out_are_not_looked_at(tmp_path):
    images = np.stack([np.asarray(smooth_photo(n, (32, 32))) for n in range(9)])
    loaded = LoadedData(("a", "b", "c"), ArrayPart(images, np.arange(9) % 3))
    seen = survey_of(loaded, {"a": ""}, TrainingRecipe(), PlainContext(tmp_path))
    assert [seen.image(row).index for row in range(len(seen))] == [1, 2, 4, 5, 7, 8]
    assert [seen.image(row).label for row in range(2)] == ["b", "c"]


def test_a_leak_is_a_copy_in_the_other_part_of_the_source(tmp_path):
    for part, start in (("train", 0), ("test", 50)):
        for label, name in enumerate(("cat", "dog")):
            (tmp_path / "data" / part / name).mkdir(parents=True)
            for number in range(5):
                image = smooth_photo(start + 10 * label + number)
                image.save(tmp_path / "data" / part / name / f"{number}.png")
    image = Image.open(tmp_path / "data" / "train" / "dog" / "4.png")
    image.save(tmp_path / "data" / "test" / "dog" / "leaked.jpg", quality=70)
    (leak,) = found(tmp_path / "data")
    assert (leak.rule, leak.severity) == ("leak", "error")
    assert names(leak) == ["train/dog/4.png", "test/dog/leaked.jpg"]
    assert leak.actions[0].title == "Use only the test image"
    assert leak.actions[0].left_out == (leak.images[0].content,)
    move = leak.action("move_train")
    assert set(move.parts) == {image.content for image in leak.images}


def test_copies_that_the_split_separates_are_worse_than_others(folder):
    for number in range(6):
        image = Image.open(folder / "cat" / f"{number}.png")
        image.save(folder / "cat" / f"copy{number}.jpg", quality=60)
    findings = found(folder, "near_duplicate", test_share=0.4, validation="none")
    worst = [each.severity for each in findings]
    assert worst == sorted(worst)
    assert {"error", "warning"} == set(worst)
    assert "training and test" in findings[0].message
    assert findings[0].action("move_train")
    assert "training and test" not in findings[-1].message


def test_imbalance_offers_balanced_class_weights(folder):
    for number in range(30):
        smooth_photo(200 + number).save(folder / "dog" / f"more{number}.png")
    (finding,) = found(folder, "imbalance")
    assert "“dog” has 36 images, “cat” 6" in finding.message
    assert finding.actions[0].recipe == {"class_weights": "balanced"}


class MeanColors:
    """Features that tell red from blue images."""

    shape, num_features = (4, 4, 3), 3

    def of(self, images):
        return images.mean(axis=(1, 2)).astype(np.float32)


def tinted(folder, name, count, color):
    (folder / name).mkdir(parents=True)
    for number in range(count):
        noise = np.random.default_rng([number, color]).integers(0, 90, (24, 24, 3), np.uint8)
        noise[..., color] += 120
        Image.fromarray(noise).save(folder / name / f"{name}{number}.png")


def test_labels_that_the_features_contradict_are_suspicious(tmp_path):
    folder = tmp_path / "data"
    tinted(folder, "red", 20, 0)
    tinted(folder, "blue", 20, 2)
    (folder / "red" / "red7.png").rename(folder / "blue" / "wrong.png")
    (folder / "red" / "red8.png").write_bytes(b"no image")
    loaded = all_datasets()["folder"].load(PlainContext(tmp_path), {"path": str(folder)})
    ctx = PlainContext(tmp_path / "cache")
    seen = survey_of(loaded, {"red": "rose"}, TrainingRecipe(), ctx, MeanColors())
    (finding,) = all_data_checks()["suspicious_label"].find(seen)
    assert names(finding) == ["blue/wrong.png"]
    assert finding.title == "“blue”, or “rose”?"
    relabel = finding.actions[0]
    assert relabel.title == "Relabel as “rose”"
    assert relabel.labels == {finding.images[0].content: "red"}  # as the source names it
    assert finding.score > 0.5
    assert finding.evidence.suggested_label == "rose"
    assert [each.label for each in finding.evidence.nearest] == ["rose"] * 3
    note, doubt = all_data_checks()["suspicious_label"].notes(seen)
    assert doubt.startswith("39 images are few to judge labels by")
    assert note.startswith("Estimated share of wrong labels: 2.6% of 39. 1 label listed")


def test_it_is_noted_which_labels_were_not_checked(tmp_path, folder):
    rule = all_data_checks()["suspicious_label"]
    assert not list(rule.notes(survey(folder))), "no features: they were not asked for"
    data = tmp_path / "data2"
    tinted(data, "red", 20, 0)
    tinted(data, "blue", 20, 2)
    for number in range(7):
        tinted(data, f"rare{number}", 1, 1)
    ctx = PlainContext(tmp_path / "cache2")
    loaded = all_datasets()["folder"].load(ctx, {"path": str(data)})
    seen = survey_of(loaded, NONE, TrainingRecipe(), ctx, MeanColors())
    single, share, _ = rule.notes(seen)
    assert single == (
        "Labels of classes with one image were not checked: “rare0”, “rare1”, “rare2”, “rare3”, "
        "“rare4” and 2 more."
    )
    assert share.startswith("Estimated share of wrong labels: 0.0% of 40. 0 labels listed")
    loaded = all_datasets()["folder"].load(ctx, {"path": str(folder)})
    few = survey_of(loaded, NONE, TrainingRecipe(), ctx, MeanColors())
    assert list(rule.notes(few)) == [
        (
            "Labels were not checked: that takes 20 images, and two classes with two different images "
            "each."
        )
    ]


def test_few_images_or_one_class_have_no_suspicious_labels(folder, tmp_path):
    rule = all_data_checks()["suspicious_label"]
    loaded = all_datasets()["folder"].load(PlainContext(tmp_path), {"path": str(folder)})
    ctx = PlainContext(tmp_path / "cache")
    assert not list(rule.find(survey_of(loaded, NONE, TrainingRecipe(), ctx, MeanColors())))
    assert not list(rule.find(survey(folder)))
    tinted(tmp_path / "more", "red", 30, 0)
    tinted(tmp_path / "more", "blue", 2, 2)
    loaded = all_datasets()["folder"].load(ctx, {"path": str(tmp_path / "more")})
    seen = survey_of(loaded, {"blue": ""}, TrainingRecipe(), ctx, MeanColors())
    assert not list(rule.find(seen))


def test_a_finding_about_many_images_lists_some_and_counts_all(folder):
    for number in range(MAX_IMAGES + 20):
        smooth_photo(1000 + number, (20, 20)).save(folder / "dog" / f"more{number}.png", "BMP")
    (finding,) = found(folder, "wrong_extension")
    assert (len(finding.images), finding.num_images) == (MAX_IMAGES, MAX_IMAGES + 20)


def test_keys_stay_when_the_folder_is_moved_and_other_images_come(folder):
    (folder / "dog" / "cat.png").write_bytes((folder / "cat" / "5.png").read_bytes())
    (before,) = found(folder)
    moved = folder.parent / "elsewhere" / "data"
    moved.parent.mkdir()
    folder.rename(moved)
    smooth_photo(321).save(moved / "cat" / "new.png")
    (after,) = found(moved)
    assert after.key == before.key
    assert after.images[0].file != before.images[0].file


def test_images_in_memory_are_compared_across_the_parts(tmp_path):
    images = np.stack([np.asarray(smooth_photo(n, (32, 32))) for n in range(12)])
    train = ArrayPart(images[:8], np.arange(8) % 2)
    test = ArrayPart(images[6:], np.arange(6) % 2)  # the first two are in both
    loaded = LoadedData(("a", "b"), train, test)
    seen = survey_of(loaded, NONE, TrainingRecipe(), PlainContext(tmp_path))
    leaks = list(all_data_checks()["leak"].find(seen))
    places = [[(image.origin, image.index) for image in leak.images] for leak in leaks]
    assert places == [[("train", 6), ("test", 0)], [("train", 7), ("test", 1)]]
    assert {image.file for leak in leaks for image in leak.images} == {""}


def test_reading_can_be_canceled(folder):
    cache = folder.parent / "cache"
    loaded = all_datasets()["folder"].load(PlainContext(cache), {"path": str(folder)})
    with pytest.raises(CancelledForTest):
        survey_of(loaded, NONE, TrainingRecipe(), PlainContext(cache, cancel_after=1))


def test_planted_flaws_of_photos_are_all_found_and_none_invented(tmp_path, shared_data):
    planted = plant(shared_data / "flowers", tmp_path / "data", each=10, clean=60, seed=5)
    result = outcome(planted, found(tmp_path / "data"))
    assert result.missed == []
    assert result.invented == []
    assert result.found == dict.fromkeys(KINDS, 10)


def test_frames_pages_and_channels_that_are_not_read_are_told(folder):
    frames = [smooth_photo(90 + number) for number in range(3)]
    for name in ("a.gif", "a.webp", "a.png", "a.tif"):
        frames[0].save(folder / "dog" / name, save_all=True, append_images=frames[1:])
    bands = np.dstack([np.asarray(frames[0]), np.asarray(frames[0])[..., :1]])
    tifffile.imwrite(
        folder / "cat" / "four.tif", bands, photometric="rgb", extrasamples=["unspecified"]
    )
    animated, paged, channels = found(folder, "partly_read")
    assert names(animated) == ["dog/a.gif", "dog/a.png", "dog/a.webp"]
    assert names(paged) == ["dog/a.tif"]
    assert names(channels) == ["cat/four.tif"]
