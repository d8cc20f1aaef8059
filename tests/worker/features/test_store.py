"""Features on disk: found by their keys, in whichever segment, and never taken when damaged."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.errors import DatasetError, LinkFoundError
from workbench.pictures import rows as picture_store
from workbench.worker import features as store_module
from workbench.worker.features import KEY_BYTES, FeatureStore

UINT16 = np.dtype(np.uint16)


def keys(first, count):
    return [number.to_bytes(KEY_BYTES, "little") for number in range(first, first + count)]


def rows(first, count):
    return np.arange(first * 6, (first + count) * 6, dtype=np.uint16).reshape(count, 2, 3)


def a_store(folder):
    return FeatureStore(folder, "ab" * 16, (2, 3), UINT16)


def filled(folder):
    first = a_store(folder)
    first.add(keys(0, 5), rows(0, 5))
    first.add(keys(5, 4), rows(5, 4))
    return first


def test_rows_come_back_in_any_order_from_all_segments(tmp_path):
    filled(tmp_path)
    store = a_store(tmp_path)
    wanted = [8, 0, 5, 4, 0]
    found = store.rows([keys(number, 1)[0] for number in wanted])
    expected = np.concatenate([rows(number, 1) for number in wanted])
    np.testing.assert_array_equal(found[:], expected)
    np.testing.assert_array_equal(found[[2, 1]], expected[[2, 1]])
    np.testing.assert_array_equal(found.pick(np.array([3, 3]))[:], expected[[3, 3]])
    assert found.dtype == UINT16
    assert found.nbytes == expected.nbytes


def test_another_extractor_sees_none_of_them(tmp_path):
    filled(tmp_path)
    other = FeatureStore(tmp_path, "cd" * 16, (2, 3), UINT16)
    assert keys(0, 1)[0] not in other


@pytest.mark.parametrize("damage", ["cut", "other type", "no keys", "no rows"])
def test_a_damaged_segment_is_computed_again(tmp_path, damage):
    filled(tmp_path)
    path = next(p for p in tmp_path.glob("*.npy") if len(np.load(p)) == 5)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-2])
    elif damage == "other type":
        np.save(path, rows(0, 5).astype(np.float32))
    elif damage == "no keys":
        path.with_suffix(".keys").unlink()
    else:
        path.unlink()
    store = a_store(tmp_path)
    assert keys(0, 1)[0] not in store
    np.testing.assert_array_equal(store.rows(keys(5, 4))[:], rows(5, 4))


def test_two_programs_may_add_at_one_time(tmp_path):
    one, other = a_store(tmp_path), a_store(tmp_path)
    one.add(keys(0, 2), rows(0, 2))
    other.add(keys(1, 2), rows(1, 2))
    np.testing.assert_array_equal(a_store(tmp_path).rows(keys(0, 3))[:], rows(0, 3))


def test_a_link_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "features").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LinkFoundError):
        a_store(tmp_path / "features")


def test_without_room_on_the_disk_they_are_held_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(picture_store, "SPARE_BYTES", 2**62)
    store = filled(tmp_path)
    assert list(tmp_path.glob("*.npy")) == []
    np.testing.assert_array_equal(store.rows(keys(3, 4))[:], rows(3, 4))
    monkeypatch.setattr(store_module, "memory_for_pictures", lambda: 10.0)
    with pytest.raises(DatasetError, match="could not be stored"):
        store.add(keys(9, 1), rows(9, 1))


def test_the_longest_unused_go_with_their_keys(tmp_path):
    filled(tmp_path)
    picture_store.prune(tmp_path, keep_bytes=0)
    assert len(list(tmp_path.glob("*.npy"))) == len(list(tmp_path.glob("*.keys"))) == 1
