"""FetchBackbone: the weights of a pretrained network onto this computer."""

from __future__ import annotations

from workbench.backbones import fetch_weights, known_backbone
from workbench.protocol.messages import Done
from workbench.protocol.weights import FetchBackbone
from workbench.worker.model.build import pretrained_arrays
from workbench.worker.requests.session import Job


def fetch_backbone(job: Job, request: FetchBackbone) -> Done:
    """Downloads and reads them once.

    Raises:
        DownloadError: no connection, refused by the server, or a wrong checksum.
        WeightsError: no such network, or the file is damaged or of another one.
    """
    spec = known_backbone(request.key)
    path = fetch_weights(spec, job)
    job.progress(f"Checking the weights of {spec.title}")
    pretrained_arrays(spec.key)
    return Done(id=job.id, text=f"The weights of {spec.title} are here.", path=str(path))
