"""What users of other tools reported, as a check list: each line with what asserts the right value.

`python -m tests.proofs.reports [ROW ...]`

Runs the tests of each line, and reads its foreign data sets (tests/foreign); prints a line for
each. Ends with 1 where a test fails or a data set is read wrong without a word.
"""

from __future__ import annotations

import fnmatch
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.foreign import all_cases
from tests.foreign.judged import judge

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Row:
    """A line of the list.

    Attributes:
        key: Its number there: of a report, or F and the number of a failure.
        words: What was reported, and what is right.
        tests: What asserts it: "tests/FILE.py::test_name", the file from tests/ on.
        cases: Patterns "KIND: NAME" of foreign data sets that are part of it.
    """

    key: str
    words: str
    tests: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()


ROWS = (
    Row("1", "classes 1, 2, 10, 11 in natural order", ("datasets/test_csv.py::test_labels_are_text_naturally_sorted",), ("folders: numbers below*",)),
    Row("2, F9", "folders of parts are no classes", (), ("folders: parts (*", "folders: three of a contest")),
    Row("4", "valid, Valid and VAL are the validation part", ("datasets/test_folder.py::test_three_parts_of_which_val_validates",), ("folders: parts ('TRAIN'*", "folders: validation alone")),
    Row("5, F12", "names of macOS (NFD) match those of the training part", (), ("folders: test in NFD", "folders: test in another case", "tables: NFC of NFD files")),
    Row("6", "a class that the test part lacks shifts no label", ("worker/requests/test_scores.py::test_labels_follow_their_names",), ("folders: a class is missing in test",)),
    Row("7", "a class that the model lacks is refused with the names", ("worker/requests/test_scores.py::test_other_classes_are_refused_before_an_image_is_decoded", "worker/requests/test_service.py::test_classes_that_the_model_does_not_have_are_refused")),
    Row("8", "parts in a copy of themselves", ("datasets/test_folder.py::test_a_folder_around_the_classes_is_looked_through",), ("folders: parts * in themselves",)),
    Row("9, F21", "unlabeled images are counted in a note", (), ("folders: unlabeled test*", "folders: loose images")),
    Row("10", "classes with odd names", ("datasets/test_folder.py::test_classes_may_be_nested_and_names_foreign", "datasets/test_folder.py::test_names_that_are_no_text_can_be_stored"), ("folders: spaces below*", "folders: chinese below*")),
    Row("11", "file names that are no UTF-8", ("cli/test_data_command.py::test_names_that_are_no_unicode_are_named_all_the_same", "worker/requests/test_classify_many.py::test_names_that_are_no_unicode_are_written_escaped")),
    Row("14", "loops of links end; linked class folders are followed once", ("datasets/test_folder.py::test_links_end_and_are_noted",), ("folders: dangling links",)),
    Row("15", "a project moved with its folder finds its images", ("core/projects/test_project_file.py",)),
    Row("16", "the content decides, not the ending", ("pictures/test_prepare.py::test_listing_looks_at_names_and_contents", "data_checks/test_rules.py::test_a_wrong_extension_is_a_hint_and_the_image_is_read"), ("folders: no ending",)),
    Row("17", "damaged and renamed files are named, training goes on", ("pictures/test_decode.py::test_odd_pictures", "cli/test_sources.py::test_odd_images_by_their_manifest", "pictures/test_prepare.py::test_unreadable_files_are_left_out_and_named")),
    Row("18", "a class whose images cannot be read", ("pictures/test_prepare.py::test_all_unreadable_and_one_class_readable", "pictures/test_decode.py::test_heic_photos_are_read_where_their_decoder_is_installed")),
    Row("19", "read-only folders are refused in words", ("runs/state/test_queue.py::test_a_read_only_home_is_reported", "runs/library/test_index.py::test_a_read_only_home_is_listed_all_the_same")),
    Row("20", "one or two images a class", ("pictures/test_prepare.py::test_a_class_with_one_picture_is_reported", "core/training/test_split.py::test_the_only_picture_of_a_class_is_trained_on")),
    Row("22", "files of macOS and Windows in archives are left out", ("datasets/test_archives.py::test_names_of_windows_and_odd_ones",), ("folders: files of systems",)),
    Row("23", "backslashes in a zip are folders", ("datasets/test_archives.py::test_names_of_windows_and_odd_ones",)),
    Row("24, 25, F15", "names of a zip in UTF-8 without the flag, CP850, GBK, Shift-JIS", (), ("archives: zip without flag*",)),
    Row("26", "cut-off, packed twice, hard links", ("datasets/test_archives.py::test_damaged_archives", "datasets/test_archives.py::test_links_and_devices_are_left_out_and_noted")),
    Row("27", "BOM, semicolons, CRLF, UTF-16, CR", ("datasets/test_csv.py::test_encodings",), ("tables: comma", "tables: semicolon, BOM, CRLF", "tables: UTF-16", "tables: CR")),
    Row("28, 29, F3", "an index or running number is no label", (), ("tables: *with an index", "tables: index in front *", "tables: named index *", "tables: id *", "tables: sep=;*")),
    Row("30", "class id, filepaths, labels, data set: the names are the classes", (), ("tables: birds of a contest", "tables: class id *", "tables: class number, name")),
    Row("33, F16", "a column of folds is no split", (), ("tables: fold *",)),
    Row("34", "ids without ending", (), ("tables: *without ending*", "tables: numbers name the files")),
    Row("36", "paths of Windows", (), ("tables: backslashes", "tables: another computer's paths")),
    Row("38", "text that is not UTF-8 is noted", ("datasets/test_csv.py::test_encodings",)),
    Row("39, F22", "labels that differ in case or space, and nan", (), ("tables: labels in two cases", "tables: spaces behind labels", "tables: a label is nan", "folders: Rose and rose")),
    Row("40, F13", "validation arrays are read", (), ("arrays: medical*", "arrays: three parts*", "arrays: only validation*")),
    Row("41", "several labels an image are refused", ("datasets/test_npz.py::test_mistakes",), ("tables: two labels", "tables: several of each")),
    Row("42", "object arrays are refused", ("datasets/test_npz.py::test_pickles_are_never_loaded",)),
    Row("43, F4", "each array has its own range", (), ("arrays: x_train: uint8, *", "arrays: x_train: *, uint8, *")),
    Row("45", "channels first, one-hot, 1 to k, text, float16", ("datasets/test_npz.py::test_labels", "datasets/test_npz.py::test_channels_first_and_fortran_order"), ("arrays: x_train: uint8, uint8, labels*", "arrays: *channels first*")),
    Row("46", "raw bytes and labels of real numbers are refused with the features", ("datasets/test_tfrecord.py::test_damaged_files",), ("records: no label at all",)),
    Row("47", "the usual features of records", ("datasets/test_tfrecord.py::test_features_are_found_in_the_first_record",), ("records: image*", "records: text*", "records: one-hot*")),
    Row("48, F20", "an unlabeled part of records is skipped and noted", (), ("records: an unlabeled part",)),
    Row("49", "16 bits keep their range", ("pictures/test_decode.py::test_16_bit_grey_is_scaled_not_clipped", "pictures/test_decode.py::test_16_bit_coins_equal_the_8_bit_range")),
    Row("51", "EXIF orientation", ("pictures/test_decode.py::test_pictures_are_upright",)),
    Row("52", "CMYK, palettes, alpha, animated", ("pictures/test_decode.py::test_cmyk_is_not_a_negative", "pictures/test_decode.py::test_palette_transparency_becomes_white", "pictures/test_decode.py::test_first_frame")),
    Row("54", "weights of Keras 2 with BatchNormalization", ("worker/requests/test_keras2_weights.py::test_a_file_of_keras_2_predicts_the_same_here",)),
    Row("59", "the best epoch is that of Keras's rule", ("core/training/test_progress_rules.py::test_the_best_is_by_accuracy_then_by_loss_then_the_first", "core/training/test_progress_rules.py::test_early_stopping_waits_for_its_patience")),
    Row("60", "schedules after a resume, and those of Keras", ("core/training/test_learning_rates.py::test_the_cosine_keeps_the_values_it_always_had", "worker/trainer/test_longer.py::test_a_schedule_over_all_epochs_is_computed_anew_and_that_is_logged")),
    Row("61", "class weights are those of scikit-learn", ("worker/step/test_recipe_steps.py::test_balanced_classes_weigh_the_same_in_all",)),
    Row("67", "what file managers send", ()),
    Row("70", "long paths and names", ("runs/log/test_event_log.py::test_long_texts_and_lists_are_cut_to_fit", "worker/trainer/test_train.py::test_names_longer_than_a_line_of_the_log_keep_no_training_from_its_end")),
    Row("71", "three images on eight replicas", ("worker/step/test_loop_parts.py::test_padded_batches_hold_each_picture_once",)),
)  # fmt: skip


def main(keys: list[str]) -> int:
    """Prints a line for each row; returns the exit code."""
    rows = [row for row in ROWS if not keys or {*row.key.split(", ")} & {*keys}]
    failed = _failed(sorted({f"tests/{each}" for row in rows for each in row.tests}))
    worst = 0
    for row in rows:
        bad = [each for each in row.tests if any(_is_of(name, each) for name in failed)]
        outcomes, wrong = _read(row)
        words = "; ".join(filter(None, (f"{len(row.tests)} tests" if row.tests else "", outcomes)))
        verdict = "ok    " if not bad and not wrong else "FAILED"
        print(
            f"{verdict}  {row.key:12} {row.words}: {words}", *bad, *wrong, sep="\n    ", flush=True
        )
        worst |= bool(bad or wrong)
    return int(worst)


def _failed(names: list[str]) -> list[str]:
    """The tests that fail, as "tests/FILE.py::test_name[...]"."""
    if not names:
        return []
    with tempfile.TemporaryDirectory() as place:
        report = Path(place) / "report.xml"
        options = ("-q", "-p", "no:cacheprovider", "-o", "junit_family=xunit1")
        command = (sys.executable, "-m", "pytest", *options, f"--junitxml={report}", *names)
        subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
        cases = list(ET.parse(report).iter("testcase"))  # noqa: S314 - our own file
    bad = [
        each for each in cases if each.find("failure") is not None or each.find("error") is not None
    ]
    return [f"{each.get('file')}::{each.get('name')}" for each in bad] or ([] if cases else names)


def _is_of(name: str, test: str) -> bool:
    return name.partition("[")[0].startswith(f"tests/{test}")


def _read(row: Row) -> tuple[str, list[str]]:
    """How the foreign data sets of a row were read, and which of them wrong without a word."""
    counts: dict[str, int] = {}
    wrong = []
    for case in all_cases():
        name = f"{case.kind}: {case.name}"
        if not any(fnmatch.fnmatchcase(name, _escaped(pattern)) for pattern in row.cases):
            continue
        with tempfile.TemporaryDirectory() as place:
            verdict = judge(case, Path(place))
        counts[verdict.outcome] = counts.get(verdict.outcome, 0) + 1
        wrong += [f"{name}: {verdict.words}"] if verdict.outcome == "silently wrong" else []
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items()), wrong


def _escaped(pattern: str) -> str:
    return pattern.replace("[", "[[]")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
