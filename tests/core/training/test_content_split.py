"""Splits by content: nothing moves that need not, duplicates and groups stay together."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.specs.dataset import SplitMarks, marks_to_plain, read_marks
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.split import (
    TEST,
    TRAIN,
    VALIDATION,
    SplitImages,
    SplitRule,
    divide_by_content,
    divide_by_order,
    split_indices,
    split_sizes,
)

NAMES = ("ant", "bee", "cat")
RULE = SplitRule(test_share=0.2, validation_share=0.25, seed=7)

FIXED = [4, 13, 39, 45, 50, 56], [1, 3, 17, 25, 32, 42]
CONTENT_PARTS = "010201200000200010211020100002"
ANT_MARKS = ("3333333333333400", "c84b1380151ac6a3")

rules = st.builds(
    SplitRule,
    test_share=st.sampled_from([0.0, 0.1, 0.2, 0.5]),
    validation_share=st.sampled_from([0.0, 0.1, 0.3]),
    seed=st.integers(0, 2**31 - 1),
)
counts = st.lists(st.integers(0, 40), min_size=3, max_size=3)


def id_of(*words: object) -> bytes:
    return hashlib.sha256(repr(words).encode()).hexdigest()[:32].encode()


def images(labels, contents, groups=None) -> SplitImages:
    return SplitImages(
        np.array(labels, np.int64),
        NAMES,
        np.array(contents, "S32"),
        None if groups is None else np.array(groups, "S32"),
    )


def of_counts(per_class, first: int = 0) -> SplitImages:
    """So many different images of each class."""
    labels = np.repeat(np.arange(3), per_class)
    return images(labels, [id_of(first + number) for number in range(len(labels))])


def joined(one: SplitImages, other: SplitImages) -> SplitImages:
    labels = np.concatenate([one.labels, other.labels])
    return images(labels, np.concatenate([one.contents, other.contents]))


def by_content(some: SplitImages, parts) -> dict[bytes, int]:
    return dict(zip(some.contents.tolist(), parts.tolist(), strict=True))


@given(counts, rules)
def test_each_class_gets_exactly_the_sizes_asked_for(per_class, rule):
    some = of_counts(per_class)
    parts, _ = divide_by_content(some, rule, SplitMarks())
    for label, total in enumerate(per_class):
        test = split_sizes(total, (rule.test_share,))[0] if rule.test_share else 0
        rest = total - test
        validation = split_sizes(rest, (rule.validation_share,))[0] if rule.validation_share else 0
        found = np.bincount(parts[some.labels == label], minlength=3)
        assert found.tolist() == [total - test - validation, validation, test]


@given(counts, counts, rules)
def test_images_added_later_move_none(per_class, added, rule):
    before = of_counts(per_class)
    parts, marks = divide_by_content(before, rule, SplitMarks())
    more = joined(of_counts(added, first=1_000), before)
    again, kept = divide_by_content(more, rule, marks)
    found = by_content(more, again)
    assert all(found[content] == part for content, part in by_content(before, parts).items())
    assert all(kept.bounds[name] == ends for name, ends in marks.bounds.items())


@given(counts, rules, st.randoms(use_true_random=False))
def test_the_order_of_the_files_and_their_names_do_not_matter(per_class, rule, random):
    some = of_counts(per_class)
    order = list(range(len(some.labels)))
    random.shuffle(order)
    turned = images(some.labels[order], some.contents[order])
    parts, marks = divide_by_content(some, rule, SplitMarks())
    others, same = divide_by_content(turned, rule, SplitMarks())
    assert others.tolist() == parts[order].tolist()
    assert same == marks


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30)), max_size=80),
    rules,
    st.integers(2, 6),
)
def test_exact_duplicates_stay_together_also_across_classes(pairs, rule, folds):
    some = images([label for label, _ in pairs], [id_of(number) for _, number in pairs])
    for own in (rule, *(replace(rule, folds=folds, fold=fold) for fold in range(1, folds + 1))):
        parts, _ = divide_by_content(some, own, SplitMarks())
        for content in set(some.contents.tolist()):
            assert len(set(parts[some.contents == content].tolist())) == 1


grouped = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 40), st.integers(0, 9)), min_size=1, max_size=90
)


def of_groups(found) -> SplitImages:
    """Images of (class, content, group); group 0 is none."""
    groups = [id_of("group", group) if group else b"" for _, _, group in found]
    contents = [id_of(content) for _, content, _ in found]
    return images([label for label, _, _ in found], contents, groups)


@given(grouped, rules)
def test_groups_and_duplicates_stay_together(found, rule):
    some = of_groups(found)
    parts, _ = divide_by_content(some, rule, SplitMarks())
    for ids in (some.contents, some.groups):
        for each in set(ids.tolist()) - {b""}:
            assert len(set(parts[ids == each].tolist())) == 1


@given(grouped, grouped, rules)
def test_images_added_to_groups_move_none(found, added, rule):
    # Copies that join two groups, and groups that get another class, may move: left out here.
    before = [(label, number, group) for number, (label, _, group) in enumerate(found)]
    classes = {group: {label for label, _, own in before if own == group} for group in range(10)}
    more = [
        (min(classes[group]) if group and classes[group] else label, 500 + number, group)
        for number, (label, _, group) in enumerate(added)
        if not group or classes[group]
    ]
    first, whole = of_groups(before), of_groups([*before, *more])
    parts, marks = divide_by_content(first, rule, SplitMarks())
    again, _ = divide_by_content(whole, rule, marks)
    assert again[: len(before)].tolist() == parts.tolist()


def test_groups_are_stratified_as_well_as_they_allow():
    found = [(label, 1_000 * label + number, 1 + label * 100 + number // 4)
             for label in range(3) for number in range(400)]  # fmt: skip
    parts, _ = divide_by_content(of_groups(found), RULE, SplitMarks())
    for label in range(3):
        sizes = np.bincount(parts[400 * label : 400 * (label + 1)], minlength=3)
        assert sizes.tolist() == [240, 80, 80]


def test_a_class_in_one_group_trains_whole_and_two_groups_give_a_test_part():
    one = of_groups([(0, number, 1) for number in range(20)])
    parts, _ = divide_by_content(one, RULE, SplitMarks())
    assert set(parts.tolist()) == {TRAIN}
    three = of_groups([(0, number, 1 + number // 10) for number in range(30)])
    parts, _ = divide_by_content(three, RULE, SplitMarks())
    assert np.bincount(parts).tolist() == [10, 10, 10]


@given(counts, st.integers(2, 7), st.booleans())
def test_each_image_validates_in_one_fold_and_the_test_part_is_the_same(per_class, folds, by_order):
    some = of_counts(per_class)
    plain, marks = divide_by_content(some, RULE, SplitMarks())
    if by_order:
        plain = divide_by_order(some.labels, shares=(0.2, 0.25), seed=7)
    validated = np.zeros(len(some.labels), np.int64)
    for fold in range(1, folds + 1):
        rule = replace(RULE, folds=folds, fold=fold)
        parts, same = divide_by_content(some, rule, SplitMarks())
        assert same == marks
        if by_order:
            parts = divide_by_order(some.labels, shares=(0.2, 0.25), seed=7, fold=fold, folds=folds)
        assert (parts == TEST).tolist() == (plain == TEST).tolist()
        validated += parts == VALIDATION
        for label, total in enumerate(per_class):
            rest = total - int((plain[some.labels == label] == TEST).sum())
            number = int((parts[some.labels == label] == VALIDATION).sum())
            assert rest // folds <= number <= -(-rest // folds)
    assert validated.tolist() == (plain != TEST).astype(int).tolist()


def test_marks_of_another_rule_are_not_used_and_new_classes_get_their_own():
    some = of_counts([20, 20, 0])
    _, marks = divide_by_content(some, RULE, SplitMarks())
    parts, other = divide_by_content(some, replace(RULE, test_share=0.5), marks)
    assert int((parts == TEST).sum()) == 20
    assert other.made_for != marks.made_for
    more = of_counts([20, 20, 20])
    parts, grown = divide_by_content(more, RULE, marks)
    assert int((parts[40:] == TEST).sum()) == 4
    assert {**grown.bounds, **marks.bounds} == grown.bounds
    assert set(grown.bounds) == set(NAMES)


def test_marks_survive_a_file_and_wrong_ones_are_reported():
    _, marks = divide_by_content(of_counts([20, 20, 5]), RULE, SplitMarks())
    wrong = []
    assert read_marks(marks_to_plain(marks), lambda *found: wrong.append(found)) == marks
    assert marks_to_plain(SplitMarks()) == {}
    assert not wrong
    for plain in ([], {"bounds": {"a": ["0"]}}, {"bounds": {"a": ["z" * 16] * 2}}, {"made_for": 3}):
        assert read_marks(plain, lambda *found: wrong.append(found)) == SplitMarks()
    assert len(wrong) == 4


@given(counts, st.integers(0, 2**31 - 1))
def test_the_split_by_order_is_what_it_always_was(per_class, seed):
    labels = np.repeat(np.arange(3), per_class)
    parts = divide_by_order(labels, shares=(0.2, 0.1), seed=seed)
    test, rest = split_indices(labels, shares=(0.2,), seed=seed)
    validation, _ = split_indices(labels[rest], shares=(0.1,), seed=seed + 1)
    assert np.flatnonzero(parts == TEST).tolist() == test.tolist()
    assert np.flatnonzero(parts == VALIDATION).tolist() == rest[validation].tolist()


def test_a_fixed_split_by_order_has_not_changed():
    labels = np.arange(60) % 3
    parts = divide_by_order(labels, shares=(0.1, 0.1), seed=7)
    assert np.flatnonzero(parts == TEST).tolist() == FIXED[0]
    assert np.flatnonzero(parts == VALIDATION).tolist() == FIXED[1]


def test_a_fixed_split_by_content_has_not_changed():
    parts, marks = divide_by_content(of_counts([10, 10, 10]), RULE, SplitMarks())
    assert "".join(map(str, parts.tolist())) == CONTENT_PARTS
    assert marks.bounds["ant"] == ANT_MARKS


def test_the_rule_of_a_recipe():
    recipe = TrainingRecipe().with_values(
        split="content", split_seed=3, group_by="subfolder", folds=4
    )
    rule = SplitRule.of(recipe, has_test=True, has_validation=False)
    assert rule == SplitRule(0.0, 0.1, 3, "subfolder", 1, 4)
    assert SplitRule.of(recipe, has_test=False, has_validation=True) == SplitRule(
        0.1, 0.0, 3, "subfolder"
    )
