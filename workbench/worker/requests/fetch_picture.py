"""FetchPicture: a picture from the web into a file, once it is known to be one."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.core.storage.own_file import open_own
from workbench.downloads.web_picture import read_web_picture
from workbench.errors import PictureError, os_errors_as
from workbench.pictures.thumbnails import decode_reduced
from workbench.protocol.classify import FetchPicture
from workbench.protocol.messages import Done
from workbench.worker.requests.session import Job


def fetch_picture(job: Job, request: FetchPicture) -> Done:
    """Downloads a picture; a file is only there in the end, and only a picture.

    Raises:
        DownloadError: it cannot be downloaded, or only beyond a limit.
        PictureError: it is no picture that can be decoded, or cannot be stored.
    """
    data = read_web_picture(request.address, job)
    decode_reduced(data, 1, where=request.address[:200])
    with os_errors_as(PictureError, "The image could not be stored.", request.path):
        descriptor = open_own(Path(request.path), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    return Done(id=job.id, path=request.path)
