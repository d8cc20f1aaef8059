"""The weights reader: a short-lived child process, the only code that opens foreign HDF5.

Run by path (`processes.limited`), with an order as JSON on stdin. It imports nothing of
Workbench, and walks the file only along the names in its order: HDF5 of unknown origin crashes
and hangs libraries that walk it freely. A finding is an answer, not an error; the parent puts it
into words.

Order:  {"path", "member", "max_bytes", "max_member_bytes", "only",
        "names": {name: [shape, dtype]}, "lists"}; `member` is "" for an HDF5 file, or the member of
        a zip archive to read; without `names` and `lists` it is handed back as it is. Where `only`
        names members, the archive may hold no others. Where `lists`, the layers are listed and
        not read: their names are free.
Answer: a frame: one JSON line {"error"} or {"missing", "different", "forbidden", "not_finite",
        "sizes": [...]}, with "bytes" of the arrays that follow, in the order of the names. Of a
        file that is listed, the findings with {"layers": [[layer, its name, [[path of an array in
        it, shape, dtype]]]], "place", "backend"} in the order of the file, an array at PLACE
        LAYER/PATH; what follows is the network that the file describes, JSON. PLACE is null in
        the layout of Keras 3, where only layers of one class in one model are in order.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import stat
import sys
import zipfile
from typing import Any

_MAX_ORDER_BYTES = 8 << 20
_MAX_REPORTED = 40
_MAX_NAMES = 10_000
_MAX_NAME = 1_000


_MAX_CONFIG_BYTES = 16 << 20
_MOST_DEPTH = 24
_MAX_DIGITS = 9
_NO_LAYERS = {"optimizer", "optimizer_weights", "seed_generator", "_random_generator"}
"""Groups in the layout of Keras 3 that hold other numbers than a network's weights."""


class _RefusedError(Exception):
    """Words for people why the file is not read."""


def main() -> int:
    """Reads one order, writes one answer; 0 also when the file was rejected."""
    order = json.loads(sys.stdin.buffer.read(_MAX_ORDER_BYTES))
    try:
        head, chunks = _read(order)
    except _RefusedError as error:
        head, chunks = {"error": str(error)}, []
    except MemoryError:
        head, chunks = {"error": "it needs far more memory than these weights"}, []
    out = sys.stdout.buffer
    size = sum(len(chunk) for chunk in chunks)
    out.write(json.dumps({**head, "bytes": size}).encode() + b"\n")
    for chunk in chunks:
        out.write(chunk)
    out.flush()
    return 0


def _read(order: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    path, max_bytes = order["path"], int(order["max_bytes"])
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode):
        raise _RefusedError("it is not a regular file")
    if status.st_size > max_bytes:
        raise _RefusedError(f"it is {status.st_size:,} bytes, at most {max_bytes:,} are read")
    source: Any = path
    if order["member"]:
        data = _member(path, order["member"], int(order["max_member_bytes"]), order["only"])
        if not order["names"] and not order["lists"]:
            return {"sizes": [len(data)]}, [data]
        source = io.BytesIO(data)
    return _read_arrays(source, order["names"], lists=order["lists"])


def _member(path: str, name: str, max_bytes: int, only: list[str]) -> bytes:
    try:
        with zipfile.ZipFile(path) as archive:
            _check_members([info.filename for info in archive.infolist()], only)
            with archive.open(name) as file:
                data = file.read(max_bytes + 1)
    except KeyError:
        raise _RefusedError(f"it contains no {name}") from None
    except (OSError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:
        raise _RefusedError(f"the archive is damaged ({error})") from None
    if len(data) > max_bytes:
        raise _RefusedError(f"{name} in it is larger than {max_bytes:,} bytes")
    return data


def _check_members(names: list[str], only: list[str]) -> None:
    strange = sorted({*names} - {*only})
    if only and strange:
        raise _RefusedError(f"it contains {strange[0][:80]!r}, not only {', '.join(only)}")
    if only and len(names) != len({*names}):
        raise _RefusedError("it contains two members with the same name")


def _read_arrays(
    source: Any, names: dict[str, list[Any]], *, lists: bool
) -> tuple[dict[str, Any], list[bytes]]:
    import h5py  # not needed for a member that is handed back as it is

    reader = _Reader(h5py)
    try:
        with h5py.File(source, "r") as file:
            if lists:
                return reader.listed(file)
            for name, (shape, dtype) in names.items():
                reader.read(file, name, tuple(shape), dtype)
    except (
        OSError,
        ValueError,
        TypeError,
        RuntimeError,
        KeyError,
        UnicodeDecodeError,
        OverflowError,
    ) as error:
        raise _RefusedError(f"the HDF5 file is damaged ({error})") from None
    return reader.head(), reader.chunks


class _Reader:
    """Reads arrays by name, never following links, and notes what is wrong."""

    def __init__(self, h5py: Any) -> None:
        self._h5py = h5py
        self.chunks: list[bytes] = []
        kinds = ("missing", "different", "forbidden", "not_finite")
        self.found: dict[str, list[Any]] = {kind: [] for kind in kinds}

    def head(self) -> dict[str, Any]:
        reported = {kind: found[:_MAX_REPORTED] for kind, found in self.found.items()}
        return {**reported, "sizes": [len(chunk) for chunk in self.chunks]}

    def read(self, file: Any, name: str, shape: tuple[int, ...], dtype: str) -> None:
        """Reads one array, after its kind, shape and type have been checked."""
        found = self._dataset(file, name)
        if found is None:
            return
        if tuple(found.shape or ()) != shape or str(found.dtype) != dtype:
            self.found["different"].append([name, list(found.shape or ()), str(found.dtype)])
        else:
            self._take(name, found[()])

    def _take(self, name: str, array: Any) -> None:
        import numpy as np  # as above

        if array.dtype.kind == "f":
            count = int(array.size - np.count_nonzero(np.isfinite(array)))
            if count:
                self.found["not_finite"].append([name, count])
        self.chunks.append(np.ascontiguousarray(array).tobytes())

    def _dataset(self, file: Any, name: str) -> Any:
        """The numbers at a path, which are in this file; None, with a note, otherwise."""
        found = self._get(file, name)
        if found is None:
            return None
        if not isinstance(found, self._h5py.Dataset):
            self.found["forbidden"].append([name, "a group instead of numbers"])
        elif found.external or found.is_virtual:
            self.found["forbidden"].append([name, "its numbers are in another file"])
        else:
            return found
        return None

    def _get(self, file: Any, name: str) -> Any:
        """The object at a path of hard links only; None, with a note, otherwise."""
        place = file
        for part in name.split("/"):
            link = place.get(part, getlink=True) if hasattr(place, "get") else None
            if link is None:
                self.found["missing"].append(name)
                return None
            if not isinstance(link, self._h5py.HardLink):
                self.found["forbidden"].append([name, "an external link"])
                return None
            place = place[part]
        return place

    def keras2_place(self, file: Any) -> str | None:
        """Path of the layers in a file that Keras 2 wrote: "" for the top, where it saved weights
        alone, or a group with "/" behind it; None where the layout is another one.
        """
        if self._is_layers(file):
            return ""
        place = "model_weights"  # beside the optimizer's, where it saved the whole model
        return f"{place}/" if self._is_layers(self._group(file, place)) else None

    @staticmethod
    def _is_layers(group: Any) -> bool:
        return group is not None and ("layer_names" in group.attrs or "layer_names0" in group.attrs)

    def listed(self, file: Any) -> tuple[dict[str, Any], list[bytes]]:
        """The layers with weights of a file, and the network that it describes."""
        place = self.keras2_place(file)
        if place is None:
            return {"layers": self._keras3_layers(file), **self.head()}, []
        top = self._group(file, place[:-1]) if place else file
        backend = _text(top.attrs.get("backend", ""))[:_MAX_NAME]
        layers = self._keras2_layers(file, top, place)
        config = _text(file.attrs.get("model_config", "")).encode()
        if len(config) > _MAX_CONFIG_BYTES:
            raise _RefusedError("it describes its network in too many words")
        return {"layers": layers, "place": place, "backend": backend, **self.head()}, [config]

    def _keras2_layers(self, file: Any, top: Any, place: str) -> list[Any]:
        layers, left = [], _MAX_NAMES
        for layer in self._attribute(top, "layer_names"):
            group = self._get(file, place + layer)
            names = [] if group is None else self._attribute(group, "weight_names")
            if (left := left - len(names)) < 0:
                raise _RefusedError(f"it contains more than {_MAX_NAMES:,} arrays")
            arrays = self._forms(file, place + layer, names)
            layers += [(layer, layer, arrays)] if arrays else []
        return layers

    def _keras3_layers(self, file: Any) -> list[Any]:
        """The layers with numbers below "vars", those of one class in their order."""
        layers: list[Any] = []
        waiting, left = [("", file)], _MAX_NAMES
        while waiting:
            path, group = waiting.pop()
            names = sorted(self._names(group), key=_numbered)
            if (left := left - len(names)) < 0 or path.count("/") > _MOST_DEPTH:
                raise _RefusedError(
                    f"it contains more than {_MAX_NAMES:,} groups, or too deep ones"
                )
            inner = [name for name in names if name not in _NO_LAYERS]
            if "vars" in inner:
                inner.remove("vars")
                layers += self._keras3_layer(file, path)
            below = [f"{path}/{name}" if path else name for name in inner]
            found = [(each, self._get(file, each)) for each in below]
            groups = [each for each in found if isinstance(each[1], self._h5py.Group)]
            waiting += reversed(groups)
        return layers

    def _keras3_layer(self, file: Any, path: str) -> list[Any]:
        place = f"{path}/vars" if path else "vars"
        group = self._get(file, place)
        if not isinstance(group, self._h5py.Group):
            return []
        arrays = self._forms(file, place, sorted(self._names(group), key=_numbered))
        name = _text(group.attrs.get("name", ""))[:_MAX_NAME]
        return [(path, name, [(f"vars/{key}", *form) for key, *form in arrays])] if arrays else []

    def _forms(self, file: Any, place: str, names: list[str]) -> list[Any]:
        """Name, shape and type of the arrays in a group."""
        found = [(name, self._dataset(file, f"{place}/{name}")) for name in names]
        return [
            (name, list(data.shape or ()), str(data.dtype))
            for name, data in found
            if data is not None
        ]

    def _attribute(self, group: Any, key: str) -> list[str]:
        """A list of names, which is in parts (KEY0, KEY1, ...) where it is long."""
        parts = (f"{key}{number}" for number in itertools.count())
        keys = [key] if key in group.attrs else itertools.takewhile(group.attrs.__contains__, parts)
        names = [name for part in keys for name in group.attrs[part]]
        if len(names) > _MAX_NAMES:
            raise _RefusedError(f"it contains more than {_MAX_NAMES:,} names in one group")
        texts = [name.decode() if isinstance(name, bytes) else str(name) for name in names]
        if any(len(text) > _MAX_NAME for text in texts):
            raise _RefusedError(f"it contains a name of more than {_MAX_NAME:,} characters")
        if len({*texts}) < len(texts):
            raise _RefusedError("it lists a name twice in one group")
        return texts

    def _group(self, group: Any, name: str) -> Any:
        """A group by a hard link; None where there is none."""
        if group is None or not isinstance(group.get(name, getlink=True), self._h5py.HardLink):
            return None
        found = group[name]
        return found if isinstance(found, self._h5py.Group) else None

    def _names(self, group: Any) -> list[str]:
        if group is None:
            return []
        if len(group) > _MAX_NAMES:
            raise _RefusedError(f"it contains more than {_MAX_NAMES:,} names in one group")
        return list(group)


def _numbered(name: str) -> tuple[str, int]:
    """Sorts conv2d_2 before conv2d_10."""
    stem, _, number = name.rpartition("_")
    if number.isdecimal() and len(number) < _MAX_DIGITS:
        return (stem, int(number))
    return ("", int(name)) if name.isdecimal() and len(name) < _MAX_DIGITS else (name, 0)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


if __name__ == "__main__":
    sys.exit(main())
