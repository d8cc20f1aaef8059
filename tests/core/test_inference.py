"""What is inferred about foreign data: its sentence, its finding, and what its actions set."""

from __future__ import annotations

from types import SimpleNamespace

from workbench.core.data_check.findings import state_of, with_actions
from workbench.core.projects.project import Choice, Project
from workbench.core.specs import Inference, Option
from workbench.data_checks import all_data_checks

LABEL = Inference(
    "label_column",
    "Label column",
    "breed",
    "named in the header",
    doubt="The column “id” has as many values.",
    param="label",
    options=(Option("id", "“id”"), Option("fold", "“fold”")),
)
PROJECT = Project(dataset=Choice("csv", {"path": "/list.csv", "label": ""}))


def findings(*inferences):
    """What the rule makes of them: it looks at nothing else of a survey."""
    return list(all_data_checks()["doubtful_reading"].find(SimpleNamespace(inferences=inferences)))


def test_a_sentence_has_evidence_and_doubt():
    assert LABEL.sentence == (
        "Label column: breed (named in the header). The column “id” has as many values."
    )


def test_what_is_set_by_the_user_is_not_in_doubt():
    is_set = Inference("a", "Label column", "breed", "named", doubt="Perhaps not.", is_told=True)
    assert is_set.sentence == "Label column: breed (set in the data source)."
    assert findings(is_set) == []


def test_what_has_no_evidence_is_a_plain_sentence():
    assert Inference("a", "Channels", "last").sentence == "Channels: last."


def test_what_is_plain_is_no_finding():
    assert findings(Inference("a", "Label column", "breed", "named in the header")) == []


def test_an_action_sets_the_parameter_of_the_data_set():
    (finding,) = findings(LABEL)
    assert (finding.severity, finding.num_images) == ("warning", 0)
    assert [action.title for action in finding.actions] == [
        "Use “id”",
        "Use “fold”",
        "Keep as it is",
    ]
    after = with_actions(PROJECT, [(finding, finding.actions[1])])
    assert after.dataset == Choice("csv", {"path": "/list.csv", "label": "fold"})
    assert state_of(finding, PROJECT) == "open"
    assert state_of(finding, after) == "fixed"


def test_keeping_it_settles_the_finding_and_changes_no_parameter():
    (finding,) = findings(LABEL)
    after = with_actions(PROJECT, [(finding, finding.actions[-1])])
    assert after.dataset == PROJECT.dataset
    assert state_of(finding, after) == "kept"


def test_two_inferences_are_two_findings():
    other = Inference("parts", "Parts", "train, test", doubt="“train” may be a class.")
    first, second = findings(LABEL, other)
    assert first.key != second.key
    assert [action.key for action in second.actions] == ["keep"]
