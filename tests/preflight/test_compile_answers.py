"""The compiler's answers, as it gave them once on a real program, and broken ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.errors import TpuError
from workbench.preflight.compile_answers import (
    GIB,
    Compiled,
    Rejected,
    TooLarge,
    read_answer,
)

DATA = Path(__file__).resolve().parents[1] / "data" / "compiler"


def recorded(name):
    return (DATA / f"{name}.json").read_bytes()


def test_a_program_that_fits():
    answer = read_answer(recorded("fits"))
    assert isinstance(answer, Compiled)
    # Arguments 1,277,952, outputs 1,163,264 of which 1,160,192 are the same memory, temporaries
    # 4,177,920 and code 1,267,712: more than the peak that the compiler names.
    assert answer.needs_bytes == 6_726_656
    assert (answer.flops, answer.bytes_moved, answer.cycles) == (38_389_752, 19_779_580, 165_515)
    first = answer.largest[0]
    assert (first.bytes, first.dtype, first.shape) == (150_528, "bf16", (16, 28, 28, 6))
    assert "convolution" in first.operation


def test_a_program_that_is_too_large():
    answer = read_answer(recorded("too_large"))
    assert isinstance(answer, TooLarge)
    assert answer.needs_bytes == 38_026_742_784  # to the byte, from the report
    assert answer.has_bytes == round(15.48 * GIB)
    assert [buffer.bytes for buffer in answer.largest[:2]] == [round(12.25 * GIB)] * 2
    assert answer.largest[0].shape == (2048, 224, 224, 64)
    assert answer.largest[1].shape == (2048, 224, 224, 64)
    assert answer.largest[0].dtype == "bf16"


@pytest.mark.parametrize(
    "error",
    [
        "Ran out of memory in memory space hbm. Used 8.38G of 8.00G hbm. Exceeded by 388M.",
        "E1000: CompileTimeHbmOom: HLO temporaries (8.38G) exceeds available HBM (8.00G).",
    ],
)
def test_both_wordings_and_no_report(error):
    answer = read_answer(json.dumps({"fits": False, "error": error, "seconds": 1.0}).encode())
    assert isinstance(answer, TooLarge)
    assert (answer.needs_bytes, answer.has_bytes) == (round(8.38 * GIB), 8 * GIB)
    assert answer.largest == []


def test_another_refusal_keeps_the_compilers_words():
    error = "\nINVALID_ARGUMENT: no such operation\nmore"
    answer = read_answer(json.dumps({"fits": False, "error": error}).encode())
    assert isinstance(answer, Rejected)
    assert answer.words == "INVALID_ARGUMENT: no such operation"


@pytest.mark.parametrize(
    "line", [b"", b"{", b"[]", b'{"fits": 3}', b'{"fault": "ImportError: libtpu"}', b"\xff\xfe"]
)
def test_what_is_no_answer_is_an_error_with_a_way_out(line):
    with pytest.raises(TpuError) as error:
        read_answer(line)
    assert "workbench compiler remove" in error.value.fix
