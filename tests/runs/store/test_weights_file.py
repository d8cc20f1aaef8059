from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as np_st

from workbench.errors import WeightsError
from workbench.runs.store.weights_file import (
    array_checksum,
    check_arrays,
    read_arrays,
    write_arrays,
)

_ARRAYS = st.dictionaries(
    st.text("abc_2/ü", min_size=1, max_size=12),
    np_st.arrays(
        st.sampled_from(["<f4", "<f8", "<i8", "|u1", "|b1", "<f2"]),
        np_st.array_shapes(min_dims=0, max_dims=4, max_side=3, min_side=0),
    ),
    max_size=4,
)


@settings(max_examples=60, deadline=None)
@given(arrays=_ARRAYS)
def test_arrays_come_back(tmp_path_factory, arrays):
    path = tmp_path_factory.mktemp("weights") / "weights.npz"
    checksum = write_arrays(path, arrays)
    back = read_arrays(path, checksum=checksum)
    assert list(back) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(back[name], array)
        assert back[name].dtype == array.dtype
        assert back[name].flags.writeable


def test_numpy_reads_the_file(tmp_path):
    write_arrays(tmp_path / "w.npz", {"conv2d/kernel": np.arange(6.0).reshape(2, 3)})
    with np.load(tmp_path / "w.npz") as file:
        assert file["conv2d/kernel"].shape == (2, 3)


def test_every_flipped_byte_and_every_cut_is_found(tmp_path):
    path = tmp_path / "w.npz"
    arrays = {"dense/kernel": np.arange(4, dtype=np.float32), "dense/bias": np.zeros(1, np.float32)}
    write_arrays(path, arrays)
    whole = path.read_bytes()
    for position in range(len(whole)):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0x55]) + whole[position + 1 :])
        _same_or_refused(path, arrays)
        path.write_bytes(whole[:position])
        with pytest.raises(WeightsError):
            read_arrays(path)


def _same_or_refused(path, arrays):
    """A flipped date or flag in the zip's directory changes nothing that is read."""
    try:
        back = read_arrays(path)
    except WeightsError:
        return
    assert array_checksum(back) == array_checksum(arrays)


def test_arrays_are_checked_one_at_a_time_as_all_at_once(tmp_path):
    path = tmp_path / "weights.npz"
    arrays = {f"layer_{at}/kernel": np.full((50, 2), at, np.float32) for at in (10, 2, 1)}
    checksum = write_arrays(path, arrays)
    check_arrays(path, checksum=checksum)
    with pytest.raises(WeightsError, match="do not match the model card"):
        check_arrays(path, checksum="0" * 64)
    with pytest.raises(WeightsError, match="too long"):
        check_arrays(path, max_bytes=10)
    path.write_bytes(path.read_bytes().replace(checksum.encode(), b"0" * 64))
    with pytest.raises(WeightsError, match="does not match its checksum"):
        check_arrays(path)


def test_the_file_of_another_run_is_refused(tmp_path):
    write_arrays(tmp_path / "w.npz", {"a": np.zeros(3, np.float32)})
    with pytest.raises(WeightsError, match="model card"):
        read_arrays(tmp_path / "w.npz", checksum="0" * 64)


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(WeightsError, match="weights file is missing"):
        read_arrays(tmp_path / "w.npz")


def test_pickles_are_neither_written_nor_read(tmp_path):
    with pytest.raises(TypeError):
        write_arrays(tmp_path / "w.npz", {"a": np.array([object()])})
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.array([{}], object), allow_pickle=True)
    with zipfile.ZipFile(tmp_path / "w.npz", "w") as file:
        file.writestr("a.npy", buffer.getvalue())
    with pytest.raises(WeightsError, match="damaged"):
        read_arrays(tmp_path / "w.npz")


def test_a_packed_member_is_refused(tmp_path):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.zeros(1_000_000))
    with zipfile.ZipFile(tmp_path / "w.npz", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.npy", buffer.getvalue())
    with pytest.raises(WeightsError, match="damaged"):
        read_arrays(tmp_path / "w.npz")
