"""One message <-> one line: round trips, and lines that are no messages."""

from __future__ import annotations

import contextlib
import typing
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench import errors
from workbench.core.data_check.findings import FoundImage
from workbench.core.evaluation.ranking import Wish
from workbench.protocol.bases import ErrorParts, Request, kinds
from workbench.protocol.classify import Classified, ImageSource, Score
from workbench.protocol.describe_data import DescribeData, ImagePlace, Looked
from workbench.protocol.messages import Done, Failed, Hello, Progress
from workbench.protocol.trained.evaluate import ClassScore, Evaluation
from workbench.protocol.trained.robustness import NamedStrengths
from workbench.protocol.wire import (
    MAX_ANSWER_BYTES,
    decode_answer,
    decode_request,
    encode_answer,
    encode_request,
    error_from_parts,
    error_parts,
)


def _fields(kind):
    hints = typing.get_type_hints(kind)
    return [SimpleNamespace(name=f.name, type=hints[f.name]) for f in msgspec.structs.fields(kind)]


texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
plain_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
strengths = st.dictionaries(texts, st.floats(allow_nan=False, allow_infinity=False), max_size=3)
by_type = {
    str: texts,
    int: st.integers(-(2**40), 2**40),
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    list[str]: st.lists(texts, max_size=4),
    list[int]: st.lists(st.integers(0, 2**40), max_size=4),
    dict[str, object]: st.dictionaries(texts, plain_values, max_size=4),
    dict[str, float]: strengths,
    list[NamedStrengths]: st.lists(
        st.builds(NamedStrengths, name=texts, strengths=strengths), max_size=2
    ),
    list[FoundImage]: st.lists(st.from_type(FoundImage), max_size=2),
    list[ImageSource]: st.lists(st.from_type(ImageSource), max_size=2),
    list[ImagePlace]: st.lists(st.from_type(ImagePlace), max_size=2),
    Wish: st.builds(Wish, precision=st.floats(0, 1), miss=st.floats(0, 1e6)),
    Looked | None: st.none()
    | st.builds(
        Looked,
        bad_files=st.lists(st.tuples(texts, texts), max_size=2),
        shape=st.lists(st.integers(0, 2**40), max_size=3),
        typical_size=st.lists(st.integers(0, 2**40), max_size=2),
    ),
}


def _values(kind):
    if typing.get_origin(kind) is typing.Literal:
        return st.sampled_from(typing.get_args(kind))
    if kind in by_type:
        return by_type[kind]
    (known,) = (each for each in typing.get_args(kind) if each is not type(None))
    return st.none() | _values(known)


requests = st.one_of(
    *(
        st.builds(kind, **{f.name: _values(f.type) for f in _fields(kind)})
        for kind in kinds(Request)
    )
)


def _answers() -> st.SearchStrategy:
    share = st.floats(0, 1)
    finite = st.none() | st.floats(allow_nan=False, allow_infinity=False)
    scores = st.lists(
        st.builds(
            ClassScore, name=texts, precision=share, recall=share, f1=share, count=st.integers(0)
        ),
        max_size=3,
    )
    return st.one_of(
        st.builds(
            Hello, protocol=st.integers(0, 99), versions=st.just({"keras": "3"}), pid=st.just(1)
        ),
        st.builds(Progress, id=st.integers(0, 9), text=texts, fraction=finite),
        st.builds(
            Classified,
            id=st.integers(0, 9),
            file=texts,
            label=texts,
            scores=st.lists(st.builds(Score, name=texts, probability=share), max_size=3),
            milliseconds=st.floats(0, 1e6),
        ),
        st.builds(
            Evaluation,
            loss=finite,
            accuracy=finite,
            classes=st.lists(texts, min_size=2, max_size=2),
            per_class=scores,
            confusion=st.lists(
                st.lists(st.integers(0, 9), min_size=2, max_size=2), min_size=2, max_size=2
            ),
        ),
        st.builds(Done, id=st.integers(0, 9), text=texts, path=texts),
        st.builds(Failed, error=st.builds(ErrorParts, what=texts, fix=texts)),
    )


@given(requests)
def test_a_request_comes_back_as_it_was(request):
    line = encode_request(request)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode_request(line) == request


@given(_answers())
def test_an_answer_comes_back_as_it_was(answer):
    assert decode_answer(encode_answer(answer)) == answer


@given(st.binary(max_size=200))
def test_no_line_does_more_than_a_wire_error(line):
    for decode in (decode_request, decode_answer):
        with contextlib.suppress(errors.WireError):
            decode(line)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"", "not a message"),
        (b"{", "not a message"),
        (b"[1, 2]", "not a message"),
        (b'{"answer": "unknown_thing"}', "not a message"),
        (b'{"answer": "done", "id": "seven"}', "$.id"),
        (b'{"answer": "progress", "text": 5}', "$.text"),
        (b'{"answer": "progress", "text": "x", "fraction": NaN}', "not a message"),
        (b'{"answer": "hello", "versions": {}, "pid": 1}', "protocol"),
        (b'{"answer": "done", "text": "\xff"}', "not a message"),
        (b'{"answer": "done", "path": "\\ud800"}', "not a message"),
        (b"[" * 100_000, "not a message"),
        (b'{"answer": "done", "text": "' + b"x" * MAX_ANSWER_BYTES + b'"}', "too long"),
        (b"\x1b[31mprinted by a library\x07", "U+001B"),
    ],
)
def test_hostile_lines_are_refused_in_words(line, words):
    with pytest.raises(errors.WireError) as caught:
        decode_answer(line)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 1_000
    assert str(caught.value).isprintable()


def test_unknown_fields_of_a_newer_worker_are_ignored():
    line = b'{"answer": "done", "id": 3, "text": "ok", "speed": 9}'
    assert decode_answer(line) == Done(id=3, text="ok")


def test_what_the_other_side_would_refuse_is_not_sent():
    not_finite = Classified(file="a", scores=[Score(name="x", probability=float("nan"))])
    with pytest.raises(errors.WireError):
        encode_answer(not_finite)
    with pytest.raises(errors.WireError):
        encode_answer(Done(text="\ud800"))
    with pytest.raises(errors.WireError):
        encode_answer(Done(text="x" * MAX_ANSWER_BYTES))
    with pytest.raises(errors.WireError):
        encode_request(DescribeData(id=1, source="x", params={"a": object()}))


def test_a_loss_that_is_not_finite_becomes_none():
    answer = Evaluation(loss=float("inf"), accuracy=None, classes=[], per_class=[], confusion=[])
    assert decode_answer(encode_answer(answer)).loss is None


@pytest.mark.parametrize("kind", [errors.DatasetError, errors.PictureError, errors.UsageError])
def test_an_error_keeps_its_class_and_its_words(kind):
    error = kind("What.", where="w", received="r", expected="e", fix="f")
    decoded = error_from_parts(decode_answer(encode_answer(Failed(error=error_parts(error)))).error)
    assert type(decoded) is kind
    assert decoded.to_dict() == error.to_dict()
    assert decoded.exit_code == error.exit_code


def test_an_error_of_an_unknown_class_is_still_reported():
    parts = msgspec.structs.replace(error_parts(errors.RunError("x")), kind="LaterError")
    assert str(error_from_parts(parts)) == "x"
