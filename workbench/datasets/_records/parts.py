"""Which part of the data set records belong to: by the names of their files; and which of their
features may say it.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import tempfile
import urllib.parse
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import reduce
from operator import and_
from pathlib import Path

from workbench.core.format import list_text, plain_name, plural
from workbench.core.specs import Inference, LoadContext
from workbench.core.storage.foreign_file import read_foreign
from workbench.core.storage.own_file import make_own_folder
from workbench.datasets._labels.texts import UNDIVIDED, column_of, may_say_parts
from workbench.datasets._records.frames import Feature
from workbench.downloads.download import Download, host_of
from workbench.downloads.fetch import fetch_unknown
from workbench.errors import DatasetError
from workbench.pictures.class_folders.tree import part_name, tokens
from workbench.pictures.listed.column import part_of_word
from workbench.pictures.listed.given import NONE

# places --------------------------------------------------------------------------------------
# Places of TFRecord files: paths, patterns, folders, web addresses, Google Cloud Storage.

STORAGE_HOST = "storage.googleapis.com"
MAX_BYTES = 200 * 10**9
_MAX_LIST_BYTES = 16 << 20
_MAX_PAGES = 100
_MAX_FILES = 10_000
_IN_FOLDERS = re.compile(
    r".*\.tfrec(ord)?s?(-\d+-of-\d+)?(\.gz)?|.*-\d{3,}-of-\d{3,}(\.gz)?", re.IGNORECASE
)
_WHAT = "TFRecord files"
_WEB = ("http", "https")


def address_hosts(text: str) -> tuple[str, ...]:
    """The computers that an address names, however it is written; none for files of this computer,
    and for what `record_files` refuses.
    """
    scheme = _scheme(text)
    if scheme == "gs":
        return (STORAGE_HOST,)
    return (host_of(text),) if scheme in _WEB else ()


def _scheme(text: str) -> str:
    """Scheme of an address in lower case: "gs", "https"; "" for none that can be contacted. Only
    here addresses are recognized: what is contacted is asked for.
    """
    try:
        parts = urllib.parse.urlsplit(text)
    except ValueError:
        return ""
    return parts.scheme if parts.netloc else ""


def record_files(ctx: LoadContext, text: str) -> list[Path]:
    """The files that are meant, fetched into the cache where they are elsewhere.

    Raises:
        DatasetError: there are none.
        DownloadError: they cannot be fetched.
    """
    if "://" in text:
        return [_fetched(ctx, address) for address in _addresses(ctx, text)]
    return _local_files(text)


def _local_files(text: str) -> list[Path]:
    if not text:
        raise DatasetError(
            "No file has been chosen yet.", expected=_WHAT, fix="Choose a TFRecord file."
        )
    path = Path(os.path.expanduser(text))  # noqa: PTH111 - keeps an unknown ~name as it is
    try:
        if path.is_dir():
            found = [each for each in path.rglob("*") if _IN_FOLDERS.fullmatch(each.name)]
        else:
            found = [path] if path.is_file() else list(map(Path, glob.glob(str(path))))  # noqa: PTH207 - absolute
        files = sorted(each for each in found if each.is_file())
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or error
        raise DatasetError(f"The file cannot be opened: {cause}.", where=text) from None
    return _checked(files, text)


def _checked(files: list[Path], text: str) -> list[Path]:
    if not 0 < len(files) <= _MAX_FILES:
        raise DatasetError(
            "There are no such files." if not files else "There are too many files.",
            where=text,
            received=f"{len(files):,} files" if files else "",
            expected=f"1 to {_MAX_FILES:,} TFRecord files: a path, a pattern such as "
            "data/*.tfrec, or a folder of them",
            fix="Check the path.",
        )
    return files


def _addresses(ctx: LoadContext, text: str) -> list[str]:
    """Web addresses of the files."""
    scheme = _scheme(text)
    if scheme in _WEB:
        return [text]
    if scheme != "gs":
        raise DatasetError(
            "This address cannot be read.",
            where=text,
            expected="an address that begins with https://, http:// or gs://",
        )
    bucket = urllib.parse.urlsplit(text).netloc
    name = text.split("/", 3)[3] if text.count("/") > 2 else ""
    names = _listed_places(ctx, bucket, name) if any(mark in name for mark in "*?[") else [name]
    base = f"https://{STORAGE_HOST}/{urllib.parse.quote(bucket)}"
    _checked([Path(each) for each in names if each], text)
    return [f"{base}/{urllib.parse.quote(each)}" for each in names]


def _listed_places(ctx: LoadContext, bucket: str, pattern: str) -> list[str]:
    """The objects of a public bucket whose names fit a pattern, sorted."""
    prefix = re.split(r"[*?\[]", pattern)[0]
    base = f"https://{STORAGE_HOST}/storage/v1/b/{urllib.parse.quote(bucket)}/o"
    found: list[str] = []
    token = ""
    for _ in range(_MAX_PAGES):
        query = {"prefix": prefix, "fields": "items(name),nextPageToken", "pageToken": token}
        page = _page(ctx, f"{base}?{urllib.parse.urlencode(query)}", bucket)
        found += [name for name in page[0] if fnmatchcase(name, pattern)]
        token = page[1]
        if not token:
            break
    return sorted(found)


def _page(ctx: LoadContext, address: str, bucket: str) -> tuple[list[str], str]:
    with tempfile.TemporaryDirectory(dir=ctx.cache_folder) as folder:
        path = Path(folder) / "list.json"
        download = Download(f"The list of gs://{bucket}", address, "")
        fetch_unknown(download, path, ctx, max_bytes=_MAX_LIST_BYTES)
        try:
            page = json.loads(read_foreign(path, _MAX_LIST_BYTES))
            return [str(item["name"]) for item in page.get("items", ())], str(
                page.get("nextPageToken", "")
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DatasetError(
                "The list of files cannot be read.", where=address, received=str(error)[:100]
            ) from None


def _fetched(ctx: LoadContext, address: str) -> Path:
    """The file of an address in the cache: fetched once."""
    folder = Path(ctx.cache_folder) / "fetched"
    make_own_folder(folder, parents=True)
    # Folders may name the part: they stay in the name.
    name = urllib.parse.unquote(urllib.parse.urlsplit(address).path.strip("/"))
    plain = re.sub(r"[^\w.-]", "_", name)[-100:]
    path = folder / f"{hashlib.sha256(address.encode()).hexdigest()[:24]}-{plain}"
    if not path.is_file():
        temporary = path.with_name(f".{os.getpid()}-{path.name}")
        fetch_unknown(
            Download(plain or "The file", address, ""), temporary, ctx, max_bytes=MAX_BYTES
        )
        temporary.replace(path)
    return path


# parts ---------------------------------------------------------------------------------------

PARTS = ("train", "test", "validation")

_PLAIN = ({"train", "validation"}, {"test", "validation"})
"""Words that are one together: "trainval" is of training, "test-dev" of the test."""
_GLUED = re.compile(r"(test)(?=dev)", re.IGNORECASE)
_KNOWN = {**{part: part for part in PARTS}, "unlabeled": "test"}
"""The part by the kinds of words in the names of folders."""
_NAMED = 3


@dataclass(frozen=True)
class FileParts:
    """The part of each file.

    Attributes:
        of: The parts; all "train" where the names say nothing.
        unnamed: Files without a word, beside files that have one.
        ambiguous: Files with the words of several parts.
    """

    of: Mapping[Path, str]
    unnamed: frozenset[Path] = frozenset()
    ambiguous: frozenset[Path] = frozenset()

    def inferences(self, files: Collection[Path]) -> Iterator[Inference]:
        """Which of these files are which part, where there are several parts or a doubt."""
        names: dict[str, list[str]] = {}
        for path in files:
            names.setdefault(self.of[path], []).append(path.name)
        doubts = [
            f"{_listed([path.name for path in files if path in some])} {words}"
            for some, words in (
                (self.unnamed, "may belong to another part: the name has no word for a part."),
                (self.ambiguous, "may belong to another part: the name has words for several."),
            )
            if some & {*files}
        ]
        if len(names) > 1 or doubts:
            words = ", ".join(
                f"{part} {plural(len(names[part]), 'file')} ({_listed(names[part])})"
                for part in sorted(names)
            )
            yield Inference(
                "parts", "The parts", words, "by the names of the files", " ".join(doubts),
                "split", (UNDIVIDED,),
            )  # fmt: skip


def file_parts(files: Sequence[Path], given: str = "") -> FileParts:
    """The parts that the names of files and of their folders say.

    A part is said by a word that not all names have: "test" in "mnist_test_train" beside
    "mnist_test_test" says nothing.

    Args:
        files: All files of the set.
        given: NONE where all are one part.
    """
    words = {} if given == NONE else _words_of(files)
    worded = [Counter(each) for each in words.values() if each]
    is_same = all(each == worded[0] for each in worded)
    if not worded or (is_same and len(worded) == len(files)):
        return FileParts(dict.fromkeys(files, "train"))
    common: Counter[str] = Counter() if is_same else reduce(and_, worded)
    left = {path: _without(each, common) or each for path, each in words.items()}
    return FileParts(
        {path: _one_part(each) for path, each in left.items()},
        frozenset(path for path, each in left.items() if not each),
        frozenset(path for path, each in left.items() if not _is_one(each)),
    )


def _words_of(files: Sequence[Path]) -> dict[Path, list[str]]:
    """The parts of the words in each name, and in the folders that not all files are in."""
    root = os.path.commonpath([path.parent for path in files]) if files else ""
    names = {
        path: [
            word
            for name in path.relative_to(root).parts
            for word in tokens(_GLUED.sub(r"\1-", name))
        ]
        for path in files
    }
    every = {word for words in names.values() for word in words}
    has_test = any(part_of_word(word, has_test=True) == "test" for word in every)
    known = {word: _part_of(word, has_test=has_test) for word in every}
    return {path: [known[w] for w in words if known[w]] for path, words in names.items()}


def _part_of(word: str, *, has_test: bool) -> str:
    """The part that a word names; "" for another word."""
    if found := part_of_word(word, has_test=has_test):
        return found
    named = part_name(word)
    return "" if named is None else _KNOWN.get(named.kind, "")


def _without(words: Sequence[str], common: Counter[str]) -> list[str]:
    """The words after those that all names have."""
    left, more = [], Counter(common)
    for word in words:
        more[word] -= 1
        if more[word] < 0:
            left.append(word)
    return left


def _is_one(words: Sequence[str]) -> bool:
    return len({*words}) < 2 or {*words} in _PLAIN


def _one_part(words: Sequence[str]) -> str:
    """The part that words name together; of several the last one, as names go into detail."""
    if {*words} in _PLAIN:
        return "train" if "train" in words else "test"
    return words[-1] if words else "train"


def _listed(names: Sequence[str]) -> str:
    more = [f"{len(names) - _NAMED:,} more"] if len(names) > _NAMED else []
    return list_text([*map(plain_name, names[:_NAMED]), *more])


def split_candidates(
    examples: Sequence[Mapping[str, Feature]], names: Sequence[str], given: str
) -> tuple[str, ...]:
    """Features that may say the part, as far as some records show: they have a name for it, or
    words for parts alone.
    """
    if given:
        return () if given == NONE else (given,)
    columns = {
        name: column_of(name, [cell_of(e.get(name, Feature())) for e in examples]) for name in names
    }
    return tuple(name for name, column in columns.items() if may_say_parts(column))


def cell_of(feature: Feature) -> str:
    """The one value of a feature as text; "" for none or several."""
    if len(feature.texts) == 1:
        return feature.texts[0].decode("utf-8", "replace").strip()
    numbers = feature.numbers or ()
    if len(numbers) != 1:
        return ""
    return str(int(numbers[0])) if float(numbers[0]).is_integer() else str(numbers[0])
