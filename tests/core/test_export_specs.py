"""What the plug-in files of export formats declare fits the texts that they name."""

from __future__ import annotations

import pytest

from workbench.core.specs import UnsupportedError
from workbench.exports import all_exports
from workbench.programs.texts import sections

READERS = {key: spec.reader for key, spec in all_exports().items() if spec.reader is not None}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_a_ready_folder_is_filled_from_sections_that_exist(reader):
    runtime = reader.runtime
    wanted = {*runtime.scripts.values(), reader.section} - {""}
    assert runtime.scripts
    assert wanted <= sections(*runtime.texts).keys()


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_the_first_script_of_a_format_classifies(reader):
    assert reader.runtime.script.startswith("classify.")


def test_what_a_format_cannot_hold_has_a_reason_and_its_place():
    error = UnsupportedError("no code for the operator ELU", "network/dense_3/Elu")
    assert error.reason == "no code for the operator ELU"
    assert str(error) == 'no code for the operator ELU at "network/dense_3/Elu"'
