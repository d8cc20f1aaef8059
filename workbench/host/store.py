"""What is sent once and kept by its content: the application's code, images and labels.

An upload grows in a file named by its sha256, so that one that was cut goes on where it
stopped. When all of it is there and its sum is right it is unpacked, member by member, into
a folder of that name; a folder that is there is whole.
"""

import contextlib
import fcntl
import glob
import hashlib
import os
import re
import shutil
import tempfile
import time
import zipfile
from typing import IO, Iterator

from workbench.host import state
from workbench.host.faults import Fault, system_faults
from workbench.host.home import remove_file
from workbench.host.request import Answer, HostRequest
from workbench.host.wire import CHUNK

_MEMBER = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]*/){0,8}[A-Za-z0-9_][A-Za-z0-9_.-]*")
_REPORT_EVERY = 500
_LOOK_S = 1.0
_SPARE_BYTES = 256 * 1024 * 1024
"""Disk space that an upload leaves free."""


def have(request: HostRequest) -> Answer:
    """How much of an upload is here. Request: kind (code, parcel), sha, size (bytes in all).

    Answer: is_whole, path (once it is unpacked), offset (from where to go on).
    """
    kind, sha = request.text("kind"), request.text("sha")
    folder = request.home.stored(kind, sha)
    if os.path.isdir(folder):
        return {"is_whole": True, "path": folder, "offset": 0}, b""
    upload = request.home.upload(kind, sha)
    offset = state.size_of(upload)
    _check_room(request, request.number("size") - offset)
    return {"is_whole": False, "path": "", "offset": offset}, b""


def put(request: HostRequest) -> Answer:
    """Takes the next piece of an upload. Request: kind, sha, offset; bytes: the piece.

    Answer: offset (bytes here now). A piece for another place than the end is rejected.
    """
    upload = request.home.upload(request.text("kind"), request.text("sha"))
    offset = request.number("offset")
    flags = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | (0 if offset else os.O_CREAT)
    with system_faults(upload):
        try:
            descriptor = os.open(upload, flags, 0o600)
        except FileNotFoundError as error:  # another line has sent it all
            raise Fault("offset", "The upload no longer exists.", where=upload) from error
        with os.fdopen(descriptor, "ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # another line may send the same
            there = os.fstat(file.fileno()).st_size
            if there != offset:
                raise Fault(
                    "offset",
                    "A part of an upload does not continue the received data.",
                    received=str(offset),
                    expected=str(there),
                )
            file.write(request.data)
    return {"offset": offset + len(request.data)}, b""


def commit(request: HostRequest) -> Answer:
    """Checks a whole upload and unpacks it. Request: kind, sha. Answer: path.

    A wrong sum removes it: the next upload starts from nothing.
    """
    kind, sha = request.text("kind"), request.text("sha")
    folder, upload = request.home.stored(kind, sha), request.home.upload(kind, sha)
    if os.path.isdir(folder):
        return {"path": folder}, b""
    try:
        with system_faults(upload), _alone(upload, request):
            if not os.path.isdir(folder):
                _check_sum(upload, sha)
                _unpack(upload, folder, request)
            remove_file(upload)
    except Fault as fault:
        if fault.key != "system" or not os.path.isdir(folder):  # else another connection was faster
            raise
    return {"path": folder}, b""


@contextlib.contextmanager
def _alone(upload: str, request: HostRequest) -> Iterator[None]:
    """Holds an upload: another line may be unpacking it."""
    with open(upload, "rb") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                request.progress("Another connection is unpacking it there")
                time.sleep(_LOOK_S)
        yield


def _check_sum(upload: str, sha: str) -> None:
    found = _sha_of(upload)
    if found != sha:
        remove_file(upload)
        raise Fault(
            "sum",
            "The upload arrived damaged and was discarded.",
            where=upload,
            received=found,
            expected=sha,
            fix="Try again.",
        )


def _check_room(request: HostRequest, size: int) -> None:
    # Packed and unpacked it is there at the same time, for a moment.
    free = shutil.disk_usage(request.home.path).free
    if 2 * size + _SPARE_BYTES > free:
        raise Fault(
            "disk_full",
            "Not enough disk space on the other computer.",
            where=request.home.path,
            received="%d MB free" % (free // 1_000_000),
            expected="%d MB" % ((2 * size + _SPARE_BYTES) // 1_000_000),
            fix="Free some space there, for example by deleting old runs.",
        )


def _sha_of(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for data in iter(lambda: file.read(CHUNK), b""):
            digest.update(data)
    return digest.hexdigest()


def _unpack(upload: str, folder: str, request: HostRequest) -> None:
    """Each member's name is checked before its file is made: none lies outside the folder."""
    parent, mark = os.path.dirname(folder), ".new-%s-" % os.path.basename(folder)[:16]
    # A lost connection ends the bridge wherever it is: what it left only uses disk space.
    for left in glob.glob(os.path.join(glob.escape(parent), mark + "*")):
        shutil.rmtree(left, ignore_errors=True)
    temporary = tempfile.mkdtemp(prefix=mark, dir=parent)
    try:
        with zipfile.ZipFile(upload) as archive:
            members = archive.infolist()
            for number, member in enumerate(members):
                if number % _REPORT_EVERY == 0:
                    request.progress("Unpacking there", number / len(members))
                if not _MEMBER.fullmatch(member.filename):
                    raise Fault(
                        "member", "Invalid file name in the archive.", received=member.filename
                    )
                _write_member(archive, member, os.path.join(temporary, member.filename))
        os.rename(temporary, folder)
    except zipfile.BadZipFile as error:
        raise Fault("archive", "The upload is not an archive.", received=str(error)) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _write_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: str) -> None:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    left = member.file_size
    with archive.open(member) as source, open(path, "xb") as target:
        while left > 0:
            left -= _copy_piece(source, target, min(left, CHUNK))


def _copy_piece(source: IO[bytes], target: IO[bytes], size: int) -> int:
    data = source.read(size)
    if not data:
        raise Fault("archive", "A file of the archive is truncated.")
    target.write(data)
    return len(data)
