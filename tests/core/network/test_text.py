"""How shapes and amounts of memory are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.format import bytes_text, shape_text


@pytest.mark.parametrize(
    ("num_bytes", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (12_345, "12.3 kB"),
        (999_600, "1.0 MB"),
        (67_108_864, "67.1 MB"),
        (1.1e9, "1.1 GB"),
    ],
)
def test_bytes(num_bytes, text):
    assert bytes_text(num_bytes) == text


@given(st.integers(0, 10**14))
def test_bytes_never_show_four_figures(num_bytes):
    assert float(bytes_text(num_bytes).split()[0]) < 1000


def test_shapes():
    assert shape_text((16, 16, 64)) == "16 × 16 × 64"
    assert shape_text((1024,)) == "1,024"
    assert shape_text(()) == "a single number"
