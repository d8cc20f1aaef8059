"""MeasureBrightness: the mean of the values of images."""

from __future__ import annotations

from workbench.protocol.brightness import BrightnessMeasured, ImageMeasured, MeasureBrightness

from workbench.pictures.thumbnails import decode_picture
from workbench.worker.requests.session import Job


def measure_brightness(job: Job, request: MeasureBrightness) -> BrightnessMeasured:
    """Decodes each image.

    Raises PictureError: one cannot be read.
    """
    means = []
    for number, file in enumerate(request.files):
        job.check_cancelled()
        job.progress("Measuring", number / len(request.files))
        means.append(float(decode_picture(file).mean()))
        job.send(ImageMeasured(id=job.id, file=file, mean=means[-1]))
    return BrightnessMeasured(id=job.id, mean=sum(means) / len(means))
