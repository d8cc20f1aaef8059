"""A worker request is two new files, its messages and its handler: window and terminal ask it and
get its final answer, or an error where the handler fails or answers something else.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

EXAMPLES = Path(__file__).with_name("examples")

ASK = """
import json
import sys

from workbench.protocol.bases import FinalAnswer
from workbench.protocol.brightness import MeasureBrightness
from workbench.protocol.careless import AnswerInParts, SendWhatIsNotDeclared
from workbench.protocol.wire import decode_request, encode_request

bright, dark, missing = sys.argv[2:]
requests = [
    MeasureBrightness(id=1, files=[bright, dark]),
    MeasureBrightness(id=2, files=[bright, missing]),
    MeasureBrightness(id=3, files=[]),
    AnswerInParts(id=4, file=bright),
    SendWhatIsNotDeclared(id=5, file=bright),
    MeasureBrightness(id=6, files=[dark]),
]
for request in requests:
    assert decode_request(encode_request(request)) == request


def in_a_terminal():
    from workbench.protocol.service_call import ServiceCall

    with ServiceCall() as service:
        for request in requests:
            yield from service.answers(request)


def in_a_window():
    from PySide6.QtCore import QCoreApplication, QDeadlineTimer

    from workbench.client.service_process import Question, Handlers
    from workbench.client.service_process import ServiceProcess
    from workbench.protocol.messages import Failed
    from workbench.protocol.wire import error_parts

    app = QCoreApplication(sys.argv[:1])
    service = ServiceProcess()
    for request in requests:
        question, found = Question(service), []
        question.ask(
            request,
            Handlers(
                on_done=found.append,
                on_failed=lambda error: found.append(Failed(error=error_parts(error))),
                on_part=found.append,
            ),
        )
        patience = QDeadlineTimer(300_000)
        while question.is_open:
            app.processEvents()
            assert not patience.hasExpired(), request
        yield from found
    service.end()


for answer in globals()[sys.argv[1]]():
    if hasattr(answer, "text"):  # progress
        continue
    print(
        json.dumps(
            [
                type(answer).__name__,
                isinstance(answer, FinalAnswer),
                answer.error.what if hasattr(answer, "error") else answer.mean,
            ]
        )
    )
"""

CARELESS = '''
"""Requests whose handlers do not keep to what they declare."""

from __future__ import annotations

from workbench.protocol.bases import Request
from workbench.protocol.brightness import BrightnessMeasured


class AnswerInParts(Request, frozen=True, kw_only=True, tag="answer_in_parts"):
    final_answer = BrightnessMeasured
    handler = "careless"

    file: str


class SendWhatIsNotDeclared(Request, frozen=True, kw_only=True, tag="send_what_is_not_declared"):
    final_answer = BrightnessMeasured
    handler = "careless"

    file: str
'''

HANDLERS = '''
"""The handlers of careless requests."""

from __future__ import annotations

from workbench.protocol.brightness import BrightnessMeasured, ImageMeasured


def answer_in_parts(job, request):
    return ImageMeasured(id=job.id, file=request.file, mean=0.0)


def send_what_is_not_declared(job, request):
    job.send(ImageMeasured(id=job.id, file=request.file, mean=0.0))
    return BrightnessMeasured(id=job.id, mean=0.0)
'''

INTERNAL = "Internal error in the service worker."


@pytest.fixture(scope="module")
def grown(module_tree):
    """The program with the request, and with two whose handlers are wrong."""
    for path, text in (
        ("protocol/brightness.py", (EXAMPLES / "brightness.py").read_text()),
        ("worker/requests/measure_brightness.py", (EXAMPLES / "measure_brightness.py").read_text()),
        ("protocol/careless.py", CARELESS),
        ("worker/requests/careless.py", HANDLERS),
    ):
        module_tree.add(f"workbench/{path}", text)
    return module_tree


@pytest.mark.worker
@pytest.mark.parametrize("where", ["in_a_terminal", "in_a_window"])
def test_a_request_ends_in_its_final_answer_or_in_an_error(grown, tmp_path, where):
    files = [tmp_path / name for name in ("bright.png", "dark.png", "missing.png")]
    for file, value in zip(files, (200, 40), strict=False):
        Image.new("RGB", (6, 4), (value,) * 3).save(file)
    done = grown.python("-W", "error", "-c", ASK, where, *map(str, files))
    assert done.returncode == 0, done.stdout + done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found == [
        ["ImageMeasured", False, 200],
        ["ImageMeasured", False, 40],
        ["BrightnessMeasured", True, 120],
        ["ImageMeasured", False, 200],
        ["Failed", True, "There is no such image file."],
        ["Failed", True, INTERNAL],
        ["Failed", True, INTERNAL],
        ["Failed", True, INTERNAL],
        ["ImageMeasured", False, 40],
        ["BrightnessMeasured", True, 40],
    ]
