"""What classifies images for a command: this process where it can, else a service worker."""

from __future__ import annotations

from workbench.cli._service import open_service
from workbench.errors import NeedsTensorFlowError
from workbench.inference.local_call import LocalCall
from workbench.protocol.service_call import ServiceCall


def open_classifier(model: str) -> ServiceCall | LocalCall:
    """Answers ClassifyMany for this model; use as a context manager. See `load_onnx_runner` for
    errors.
    """
    try:
        return LocalCall(model)
    except NeedsTensorFlowError:
        return open_service()
