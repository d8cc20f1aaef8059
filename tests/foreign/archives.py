"""Archives of images as people pack them: folders of this kind, and names in many encodings."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tests.foreign.folders import NAMES, Fill, classes, parts
from tests.foreign.judged import Case, Written

ENCODED: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "german": (("Gänseblümchen", "Löwenzahn", "Übrige"), ("utf-8", "cp850", "cp437", "cp1252")),
    "french": (("Été", "Forêt", "Garçon"), ("utf-8", "cp850", "mac_roman")),
    "trees": (("chêne", "érable", "hêtre"), ("utf-8", "cp850", "mac_roman")),
    "chinese": (("玫瑰花", "蒲公英", "向日葵"), ("utf-8", "gbk", "big5")),
    "japanese": (("バラの花", "たんぽぽ", "ひまわり"), ("utf-8", "shift_jis")),
    "russian": (("Ромашка", "Одуванчик", "Роза"), ("utf-8", "cp866", "cp1251")),
    "korean": (("장미꽃", "민들레", "해바라기"), ("utf-8", "euc_kr")),
}


def cases() -> Iterator[Case]:
    """All archives."""
    for kind in ("zip", "tar", "tar.gz", "tar.xz", "tgz"):
        for key in ("words", "umlauts", "numbers", "spaces"):
            for around in ("", "flowers"):
                yield _case(f"{key} below “{around}”", kind, key, partial(classes, around=around))
        for folders in (("train", "test"), ("train", "test", "val"), ("seg_train", "seg_test")):
            yield _case(f"parts {folders}", kind, "words", partial(parts, folders=folders))
    for language, (names, encodings) in ENCODED.items():
        for encoding in encodings:
            yield _encoded(f"{language}, {encoding}", names, encoding)


def _case(name: str, kind: str, key: str, fill: Fill) -> Case:
    def write(folder: Path) -> tuple[str, Mapping[str, Any], Written]:
        written = _filled(folder, NAMES[key], fill)
        path = folder / f"data.{kind}"
        if kind == "zip":
            with zipfile.ZipFile(path, "w") as archive:
                for file in _files(written):
                    archive.write(file, file.relative_to(written.root))
        else:
            with tarfile.open(path, f"w:{ {'tar': '', 'tar.xz': 'xz'}.get(kind, 'gz') }") as packed:
                for file in _files(written):
                    packed.add(file, file.relative_to(written.root))
        return "zip" if kind == "zip" else "tar", {"path": str(path)}, written

    return Case("archives", f"{kind}: {name}", write)


def _filled(folder: Path, names: tuple[str, ...], fill: Fill) -> Written:
    written = Written(folder / "packed", names)
    fill(written)
    return written


def _files(written: Written) -> list[Path]:
    return sorted(path for path in written.root.rglob("*") if path.is_file())


def _encoded(name: str, names: tuple[str, ...], encoding: str) -> Case:
    """A zip whose names are bytes of an encoding, without the flag of UTF-8."""

    def write(folder: Path) -> tuple[str, Mapping[str, Any], Written]:
        written = _filled(folder, names, classes)
        path = folder / "data.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for file in _files(written):
                relative = file.relative_to(written.root)
                info = _PlainName(str(relative), str(relative).encode(encoding))
                archive.writestr(info, file.read_bytes())
        return "zip", {"path": str(path)}, written

    return Case("archives", f"zip without flag: {name}", write)


class _PlainName(zipfile.ZipInfo):
    """A member whose name is written as these bytes."""

    def __init__(self, name: str, encoded: bytes) -> None:
        super().__init__(name)
        self._encoded = encoded

    def _encodeFilenameFlags(self) -> tuple[bytes, int]:
        return self._encoded, self.flag_bits
