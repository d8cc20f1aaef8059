"""What the requests declare: the answers of each, and that a handler of its tag's name gives them."""

from __future__ import annotations

import typing

import pytest

from workbench.protocol.bases import Answer, FinalAnswer, Request, kinds
from workbench.protocol.messages import Cancel, Failed, Hello, Progress
from workbench.worker.service import handler_of

REQUESTS = kinds(Request)


@pytest.mark.parametrize("kind", REQUESTS, ids=lambda kind: kind.__name__)
def test_only_the_last_answer_of_a_request_is_final(kind):
    assert issubclass(kind.final_answer, FinalAnswer)
    assert not any(issubclass(each, FinalAnswer) for each in kind.partial_answers)


def test_each_answer_is_that_of_a_request():
    declared = {each for kind in REQUESTS for each in (kind.final_answer, *kind.partial_answers)}
    assert declared == set(kinds(Answer)) - {Hello, Progress, Failed}


def test_a_tag_is_the_name_of_its_class_in_other_letters():
    """A message that declares no tag would have the name itself."""
    tags = {kind: kind.__struct_config__.tag for kind in (*REQUESTS, *kinds(Answer))}
    assert [kind for kind, tag in tags.items() if not tag.islower()] == []


@pytest.mark.parametrize(
    "kind", [kind for kind in REQUESTS if kind is not Cancel], ids=lambda kind: kind.__name__
)
def test_the_handler_of_a_request_returns_its_final_answer(kind):
    declared = typing.get_type_hints(handler_of(kind))
    assert declared.pop("return") is kind.final_answer
    assert kind in declared.values()
