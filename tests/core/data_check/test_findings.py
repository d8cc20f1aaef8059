"""Actions make new edits; a finding is settled when the edits hold what an action makes."""

from __future__ import annotations

from dataclasses import replace

from workbench.core.data_check.findings import (
    Action,
    FoundImage,
    leave_out,
    new_finding,
    reopened,
    state_of,
    tally,
    with_actions,
)
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project import Project

A, B = "a" * 32, "b" * 32


def image(content, label="cat", part="train"):
    return FoundImage(content, f"{content[0]}.png", "train", 0, label, label, part)


def finding(*actions, rule="leak"):
    return new_finding(rule, "error", "T", "M", images=[image(A), image(B)], actions=actions)


def with_action(project, pair, action):
    return with_actions(project, [(pair, action)])


def test_each_action_settles_its_finding_and_nothing_else_changes():
    actions = [
        Action("one", "", left_out=(A,)),
        Action("two", "", once=(B,), labels={B: "dog"}),
        Action("three", "", parts={A: "test", B: "test"}),
        Action("four", "", recipe={"class_weights": "balanced"}),
    ]
    pair, start = finding(*actions), Project()
    assert state_of(pair, start) == "open"
    for action in actions:
        after = with_action(start, pair, action)
        assert state_of(pair, after) == "fixed"
        assert with_action(after, pair, action) == after
        assert reopened(after, pair).edits == DataEdits()
        assert replace(after, edits=start.edits, recipe=start.recipe) == start


def test_keeping_is_kept_until_an_action_is_chosen_or_it_is_reopened():
    pair = finding(leave_out([image(A)]))
    kept = with_action(Project(), pair, pair.actions[-1])
    assert state_of(pair, kept) == "kept"
    assert state_of(pair, with_action(kept, pair, pair.actions[0])) == "fixed"
    assert state_of(pair, reopened(kept, pair)) == "open"


def test_a_finding_that_an_action_of_another_one_settles_is_fixed_too():
    pair, single = finding(leave_out([image(A)])), finding(leave_out([image(A)]), rule="tiny")
    after = with_action(Project(), single, single.actions[0])
    assert state_of(pair, after) == "fixed"
    counts = tally([pair, single, finding(rule="rotated")], after)
    assert (counts.total, counts.fixed, counts.open) == (3, 2, 1)
    assert counts.words == "3 findings, 2 fixed"


def test_labeling_an_image_that_was_left_out_uses_it_again():
    pair = finding(leave_out([image(A)]), Action("relabel", "", labels={A: "dog"}))
    after = with_action(with_action(Project(), pair, pair.actions[0]), pair, pair.actions[1])
    assert after.edits == DataEdits(labels={A: "dog"})


def test_keys_depend_on_the_images_and_the_rule_alone():
    first = new_finding("leak", "error", "T", "M", images=[image(A), image(B)])
    other_words = new_finding("leak", "hint", "t", "m", images=[image(B, "dog"), image(A)])
    assert first.key == other_words.key
    assert first.key != new_finding("tiny", "error", "T", "M", images=[image(A), image(B)]).key
    assert first.key != new_finding("leak", "error", "T", "M", images=[image(A)]).key


def test_several_actions_at_once_are_the_same_as_one_after_the_other():
    pair = finding(Action("one", "", left_out=(A,)), Action("two", "", labels={A: "dog"}))
    other = finding(Action("once", "", once=(B,), parts={B: "test"}), rule="duplicate")
    chosen = [(pair, pair.actions[0]), (other, other.actions[0]), (pair, pair.actions[1])]
    chosen += [(other, other.actions[-1])]
    expected = Project()
    for each in chosen:
        expected = with_action(expected, *each)
    assert with_actions(Project(), chosen) == expected
    assert expected.edits.kept == {other.key}
