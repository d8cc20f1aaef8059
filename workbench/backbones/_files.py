"""Files of pretrained weights: their paths, checksums and downloads. Not a plug-in itself."""

from __future__ import annotations

import hashlib
from pathlib import Path

from workbench.assets import resource_path, resources_folder
from workbench.core.specs import BackboneSpec, BundledWeights, DownloadedWeights
from workbench.core.storage.foreign_file import open_foreign, read_foreign
from workbench.core.storage.own_file import make_private
from workbench.core.storage.save import save_bytes
from workbench.downloads.download import Download, Progress, keras_folder
from workbench.downloads.fetch import fetch, fetch_unknown
from workbench.errors import DownloadError, WeightsError, os_errors_as

_MD5_LENGTH = 32
_RECORD_SUFFIX = ".sha256"
"""Ending of the file beside a download whose makers publish no checksum: it holds the checksum of
the first download."""

_MOST_TIMES = 2
"""A file of unknown checksum may be so many times as large as its publishers' one."""


def weights_file(spec: BackboneSpec) -> Path:
    """Path of the weights: bundled, sent along by another computer, or in Keras's own folder."""
    if isinstance(spec.weights, BundledWeights):
        return resource_path(spec.weights_resource)
    name = spec.weights.file_name
    sent = resources_folder() / "backbones" / name
    return sent if sent.is_file() else _kept_at(spec.weights)


def has_weights(spec: BackboneSpec) -> bool:
    """Whether the weights are on this computer; they are not read."""
    return isinstance(spec.weights, BundledWeights) or weights_file(spec).is_file()


def checked_file(spec: BackboneSpec) -> Path:
    """The file with the weights, whose checksum is right.

    Raises:
        WeightsError: it is missing, cut or altered.
    """
    path = weights_file(spec)
    if isinstance(spec.weights, BundledWeights):
        _check(spec, path, spec.weights.sha256, fix="Reinstall Workbench.")
        return path
    if not path.is_file():
        raise WeightsError(
            f"The pretrained weights of {spec.title} have not been downloaded.",
            where=str(path),
            expected=f"{path.name} from {spec.weights.address}",
            fix="Download them once: in the window by the list of networks in Data, in a terminal "
            f"by `workbench backbones --download {spec.key}`; or copy {path.name} into "
            f"{path.parent}.",
        )
    checksum = spec.weights.checksum or _recorded(path)
    if checksum:
        _check(spec, path, checksum, fix="Delete it, and download it again.")
    return path


def fetch_weights(spec: BackboneSpec, ctx: Progress) -> Path:
    """Downloads the weights, where they are not here yet; nothing else connects to the internet.

    Raises:
        DownloadError: no connection, refused by the server, or a wrong checksum. The message names
            the address, and where the file can be put by hand.
        WeightsError: the file that is here is damaged, and its makers publish no checksum.
        LinkFoundError: a link has the file's name.
    """
    if isinstance(spec.weights, BundledWeights):
        return checked_file(spec)
    download = Download(f"{spec.title} weights", spec.weights.address, spec.weights.checksum)
    folder = _kept_at(spec.weights).parent
    if download.checksum:
        return fetch(download, folder, ctx)
    path = folder / download.kept_name
    if path.is_file():
        return checked_file(spec)
    _fetch_first(download, path, ctx, spec.weights.num_bytes)
    return path


def _fetch_first(download: Download, path: Path, ctx: Progress, num_bytes: int) -> None:
    """Fetches a file whose checksum nobody publishes, and records the one it has."""
    with os_errors_as(DownloadError, "The download could not be stored.", path.parent):
        make_private(path.parent)
    new = path.with_name(f".{path.name}.new")
    fetch_unknown(download, new, ctx, max_bytes=_MOST_TIMES * num_bytes)
    save_bytes(_record_of(path), _file_checksum(new).encode() + b"\n")
    with os_errors_as(DownloadError, "The download could not be stored.", path.parent):
        new.replace(path)


def _kept_at(weights: DownloadedWeights) -> Path:
    return keras_folder("models") / weights.file_name


_MAX_RECORD_BYTES = 1024


def _record_of(path: Path) -> Path:
    return path.with_name(path.name + _RECORD_SUFFIX)


def _recorded(path: Path) -> str:
    try:
        return read_foreign(_record_of(path), _MAX_RECORD_BYTES).decode("ascii", "replace").strip()
    except FileNotFoundError:  # put here by hand, or by Keras
        return ""


def _check(spec: BackboneSpec, path: Path, checksum: str, *, fix: str) -> None:
    received = _file_checksum(path, is_md5=len(checksum) == _MD5_LENGTH)
    if received != checksum:
        raise WeightsError(
            f"The file with the pretrained weights of {spec.title} is damaged.",
            where=str(path),
            received=f"{path.stat().st_size:,} bytes with the checksum {received}",
            expected=f"the checksum {checksum}",
            fix=fix,
        )


def _file_checksum(path: Path, *, is_md5: bool = False) -> str:
    """sha256 of a file, or md5; raises WeightsError where it cannot be read."""
    with os_errors_as(WeightsError, "The file cannot be read.", path), open_foreign(path) as file:
        return hashlib.file_digest(file, "md5" if is_md5 else "sha256").hexdigest()
