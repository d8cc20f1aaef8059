"""Places of TFRecord files: paths, patterns, folders, web addresses, Google Cloud Storage."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import tempfile
import urllib.parse
from fnmatch import fnmatchcase
from pathlib import Path

from workbench.core.specs import LoadContext
from workbench.core.storage.foreign_file import read_foreign
from workbench.core.storage.own_file import make_own_folder
from workbench.downloads.download import Download, host_of
from workbench.downloads.fetch import fetch_unknown
from workbench.errors import DatasetError

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
    names = _listed(ctx, bucket, name) if any(mark in name for mark in "*?[") else [name]
    base = f"https://{STORAGE_HOST}/{urllib.parse.quote(bucket)}"
    _checked([Path(each) for each in names if each], text)
    return [f"{base}/{urllib.parse.quote(each)}" for each in names]


def _listed(ctx: LoadContext, bucket: str, pattern: str) -> list[str]:
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
