"""Archives in the ways in which programs write names, with the names that they mean."""

from __future__ import annotations

import io
import struct
import tarfile
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.datasets.foreign_layout import PNG, Counts, Outcome

WORDS: Mapping[str, tuple[str, ...]] = {
    "German": ("Gänseblümchen", "Löwenzahn", "Märzenbecher", "Füße"),
    "French": ("forêt", "élève", "garçon", "château"),
    "Spanish": ("niño", "árbol", "león", "piña"),
    "Portuguese": ("pão", "maçã", "coração"),
    "Danish": ("rødgrød", "æble", "blåbær"),
    "Chinese": ("玫瑰", "郁金香", "向日葵", "蒲公英", "苹果"),
    "Taiwanese": ("玫瑰", "鬱金香", "向日葵", "蘋果", "香蕉"),
    "Japanese": ("バラ", "ひまわり", "たんぽぽ", "りんご", "ソース", "表"),
    "Korean": ("장미", "고양이", "강아지", "해바라기", "튤립"),
    "Russian": ("роза", "Тюльпан", "кошка", "подсолнух"),
    "Polish": ("róża", "łąka", "żaba", "źdźbło"),
    "Czech": ("růže", "kočka", "ďábel", "šípek"),
    "Greek": ("γάτα", "σκύλος", "τριαντάφυλλο"),
}
_ENCODINGS: Mapping[str, tuple[str, ...]] = {
    "German": ("cp850", "cp437", "cp1252"),
    "French": ("cp850", "cp1252"),
    "Spanish": ("cp850", "cp1252"),
    "Portuguese": ("cp850", "cp1252"),
    "Danish": ("cp850", "cp1252"),
    "Chinese": ("gb18030",),
    "Taiwanese": ("big5",),
    "Japanese": ("cp932",),
    "Korean": ("cp949",),
    "Russian": ("cp866", "cp1251", "koi8-r"),
    "Polish": ("cp852", "cp1250"),
    "Czech": ("cp852", "cp1250"),
    "Greek": ("cp737", "cp1253"),
}


@dataclass(frozen=True)
class ForeignArchive:
    """An archive that somebody sends.

    Attributes:
        name: How it was written.
        kind: Its data set.
        write: Writes it to a path.
        truth: Its classes.
        outcomes: What may come of it.
    """

    name: str
    kind: str
    write: Callable[[Path], None]
    truth: Counts
    outcomes: frozenset[Outcome] = frozenset({"right", "changeable"})


def write_zip(
    path: Path,
    names: Mapping[bytes, bytes],
    *,
    is_utf8: bool = False,
    extra: Callable[[bytes], bytes] = lambda name: b"",
) -> None:
    """A ZIP file with names of any bytes, as programs write it that do not know Unicode."""
    body, index = io.BytesIO(), io.BytesIO()
    for name, data in names.items():
        field = extra(name)
        flags, checksum = 0x800 if is_utf8 else 0, zlib.crc32(data)
        facts = struct.pack("<HHHHLLLHH", flags, 0, 0, 0x5000, checksum, len(data), len(data),
                            len(name), len(field))  # fmt: skip
        offset = body.tell()
        body.write(struct.pack("<LH", 0x04034B50, 20) + facts + name + field + data)
        index.write(struct.pack("<LHH", 0x02014B50, 20, 20) + facts
                    + struct.pack("<HHHLL", 0, 0, 0, 0, offset) + name + field)  # fmt: skip
    start, size = body.tell(), index.tell()
    end = struct.pack("<LHHHHLLH", 0x06054B50, 0, 0, len(names), len(names), size, start, 0)
    path.write_bytes(body.getvalue() + index.getvalue() + end)


def unicode_path(text: str) -> Callable[[bytes], bytes]:
    """Info-ZIP's extra field with the name in Unicode: `text` is put before the file's own name."""

    def field(name: bytes) -> bytes:
        unicode = (text + "/" + name.split(b"/")[-1].decode("ascii")).encode()
        data = struct.pack("<BL", 1, zlib.crc32(name)) + unicode
        return struct.pack("<HH", 0x7075, len(data)) + data

    return field


def write_tar(path: Path, names: Mapping[bytes, bytes]) -> None:
    """A TAR file with names of any bytes."""
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT, encoding="utf-8",
                      errors="surrogateescape") as archive:  # fmt: skip
        for name, data in names.items():
            info = tarfile.TarInfo(name.decode("utf-8", "surrogateescape"))
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def _files(classes: tuple[str, ...], encoding: str, around: str = "fotos") -> dict[bytes, bytes]:
    """Three pictures of each class, named in an encoding."""
    return {
        f"{around}/{name}/{number}.png".encode(encoding): PNG + name.encode() + bytes([number])
        for name in classes
        for number in range(3)
    }


def _truth(classes: tuple[str, ...]) -> Counts:
    return dict.fromkeys(classes, (3, 0, 0))


def _zip(files: Mapping[bytes, bytes], **how: object) -> Callable[[Path], None]:
    return lambda path: write_zip(path, files, **how)  # type: ignore[arg-type]


def _tar(files: Mapping[bytes, bytes]) -> Callable[[Path], None]:
    return lambda path: write_tar(path, files)


def archives() -> Iterator[ForeignArchive]:
    """All of them."""
    for language, classes in WORDS.items():
        for encoding in _ENCODINGS[language]:
            files = _files(classes, encoding)
            name = f"{language} {encoding}"
            yield ForeignArchive(f"{name}.zip", "zip", _zip(files), _truth(classes))
            yield ForeignArchive(f"{name}.tar", "tar", _tar(files), _truth(classes))
        files, right = _files(classes, "utf-8"), frozenset({"right"})
        apart = tuple(unicodedata.normalize("NFD", name) for name in classes)
        for style, made in [
            ("unmarked", _zip(files)),
            ("marked", _zip(files, is_utf8=True)),
            ("unmarked mac", _zip(_files(apart, "utf-8"))),
        ]:
            yield ForeignArchive(
                f"{language} utf-8 {style}.zip", "zip", made, _truth(classes), right
            )
        yield ForeignArchive(f"{language} utf-8.tar", "tar", _tar(files), _truth(classes), right)
