"""The window's end of the service worker, with the real worker at the other end."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import QProcess

from workbench.client.service_process import ServiceProcess
from workbench.protocol.bases import PROTOCOL_VERSION
from workbench.protocol.classify import WarmUp
from workbench.protocol.describe_data import DataDescription, DescribeData
from workbench.protocol.messages import Done, Failed, Hello, Progress
from workbench.protocol.wire import encode_answer

pytestmark = pytest.mark.worker

WAIT_MS = 60_000
OTHER_ANSWER = '{"answer":"made_later","id":1}'
OTHER_HELLO = '{"answer":"hello","protocol":999,"versions":{},"pid":1}'


class Answers(list):
    """Collects what a request is answered; `last` is the final answer."""

    @property
    def last(self):
        return self[-1] if self else None

    @property
    def is_over(self) -> bool:
        return isinstance(self.last, Done | Failed | DataDescription)


@pytest.fixture
def service(qtbot):
    service = ServiceProcess()
    yield service
    service.end()


@pytest.fixture
def pictures(tmp_path) -> Path:
    """Two classes of three small pictures, and a file that is none."""
    for name, colour in (("red", (255, 0, 0)), ("blue", (0, 0, 255))):
        folder = tmp_path / "data" / name
        folder.mkdir(parents=True)
        for number in range(3):
            Image.new("RGB", (12, 10), colour).save(folder / f"{number}.png")
    (tmp_path / "data" / "red" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n????")
    return tmp_path / "data"


def describe(folder: Path) -> DescribeData:
    return DescribeData(id=0, source="folder", params={"path": str(folder)})


def test_a_request_starts_the_worker_and_is_answered(qtbot, service, pictures):
    answers = Answers()
    states = []
    service.state_changed.connect(states.append)
    request_id = service.send(describe(pictures), answers.append)
    assert answers == []  # sending waits for nothing
    qtbot.waitUntil(lambda: answers.is_over, timeout=WAIT_MS)
    description = answers.last
    assert isinstance(description, DataDescription)
    assert description.id == request_id
    assert [(c.name, c.num_train + c.num_test) for c in description.classes] == [
        ("blue", 3),
        ("red", 3),
    ]
    assert [Path(path).name for path, _ in description.bad_files] == ["broken.png"]
    assert states[:2] == ["Starting the service worker", "The service worker is ready"]


def test_an_error_comes_back_in_words_and_the_worker_goes_on(qtbot, service, tmp_path, pictures):
    bad, good = Answers(), Answers()
    service.send(describe(tmp_path / "nowhere"), bad.append)
    service.send(describe(pictures), good.append)
    qtbot.waitUntil(lambda: good.is_over, timeout=WAIT_MS)
    assert isinstance(bad.last, Failed)
    assert "nowhere" in bad.last.error.where
    assert bad.last.error.kind == "DataNotFoundError"
    assert isinstance(good.last, DataDescription)


def hello_line() -> str:
    return encode_answer(Hello(protocol=PROTOCOL_VERSION, versions={}, pid=1)).decode()


def process_id(service):
    return service.findChild(QProcess).processId()


def test_a_worker_killed_in_the_middle_fails_that_request_and_the_next_one_does_the_others(
    qtbot, service, pictures
):
    ready = Answers()
    service.send(describe(pictures), ready.append)
    qtbot.waitUntil(lambda: ready.is_over, timeout=WAIT_MS)
    waiting = [Answers(), Answers(), Answers()]
    deaths = []
    service.died.connect(deaths.append)
    os.kill(process_id(service), signal.SIGSTOP)  # it stops in the middle of them
    sent = [service.send(describe(pictures), answers.append) for answers in waiting]
    service.cancel(sent[1])
    os.kill(process_id(service), signal.SIGKILL)
    qtbot.waitUntil(lambda: all(answers.is_over for answers in waiting), timeout=WAIT_MS)
    under_way, canceled, behind = waiting
    for answers in (under_way, canceled):
        assert isinstance(answers.last, Failed)
        assert "killed (signal 9)" in answers.last.error.what
    assert isinstance(behind.last, DataDescription)
    assert len(deaths) == 1
    again = Answers()
    service.send(describe(pictures), again.append)
    qtbot.waitUntil(lambda: again.is_over, timeout=WAIT_MS)
    assert isinstance(again.last, DataDescription)


def test_requests_that_end_every_worker_come_to_an_end(qtbot):
    program = f"import sys; print({hello_line()!r}, flush=True); input(); sys.exit(3)"
    service = ServiceProcess(command=[sys.executable, "-c", program])
    waiting, deaths = [Answers(), Answers()], []
    service.died.connect(deaths.append)
    for answers in waiting:
        service.send(WarmUp(id=0, model="x"), answers.append)
    qtbot.waitUntil(lambda: all(answers.is_over for answers in waiting), timeout=WAIT_MS)
    assert [len(answers) for answers in waiting] == [1, 1]
    assert len(deaths) == 2
    service.end()


def test_a_worker_killed_while_it_reads_pictures_is_reported_with_its_last_words(
    qtbot, service, pictures
):
    for number in range(4_000):
        os.link(pictures / "red" / "0.png", pictures / "red" / f"copy_{number}.png")
    answers = Answers()

    def kill_at_work(answer):
        answers.append(answer)
        if isinstance(answer, Progress) and answer.fraction:
            os.kill(process_id(service), signal.SIGKILL)

    service.send(describe(pictures), kill_at_work)
    qtbot.waitUntil(lambda: answers.is_over, timeout=WAIT_MS)
    assert isinstance(answers.last, Failed)
    assert "killed (signal 9)" in answers.last.error.what
    assert "next request" in answers.last.error.fix


def test_a_callback_may_ask_again_when_the_worker_dies(qtbot, service, pictures):
    first, second = Answers(), Answers()

    def ask_again(answer):
        first.append(answer)
        if first.is_over:
            service.send(describe(pictures), second.append)

    service.send(describe(pictures), ask_again)
    os.kill(process_id(service), signal.SIGKILL)
    qtbot.waitUntil(lambda: second.is_over, timeout=WAIT_MS)
    assert isinstance(first.last, Failed)
    assert isinstance(second.last, DataDescription)


def test_a_request_can_be_cancelled_before_the_worker_is_there(qtbot, service, pictures):
    answers = Answers()
    request_id = service.send(describe(pictures), answers.append)
    service.cancel(request_id)
    qtbot.waitUntil(lambda: answers.is_over, timeout=WAIT_MS)
    assert answers.last.error.what == "Canceled."


def test_a_waiting_request_can_be_cancelled(qtbot, service, pictures):
    first, second = Answers(), Answers()
    service.send(describe(pictures), first.append)
    qtbot.waitUntil(lambda: first.is_over, timeout=WAIT_MS)
    os.kill(process_id(service), signal.SIGSTOP)  # so that the cancel is certain to be in time
    request_id = service.send(describe(pictures), second.append)
    service.cancel(request_id)
    os.kill(process_id(service), signal.SIGCONT)
    qtbot.waitUntil(lambda: second.is_over, timeout=WAIT_MS)
    assert isinstance(second.last, Failed | DataDescription)
    assert len([a for a in second if isinstance(a, Failed | DataDescription)]) == 1


def test_stopping_fails_what_is_open_and_removes_the_session_folder(qtbot, service, pictures):
    description = Answers()
    request = DescribeData(
        id=0, source="folder", params={"path": str(pictures)}, thumbnails_per_class=1
    )
    service.send(request, description.append)
    qtbot.waitUntil(lambda: description.is_over, timeout=WAIT_MS)
    thumbnail = Path(description.last.classes[0].thumbnails[0].path)
    session = thumbnail.parent.parent
    assert thumbnail.is_file()
    assert session.stat().st_mode & 0o777 == 0o700
    open_request = Answers()
    service.send(describe(pictures), open_request.append)
    service.stop()
    assert open_request.last.error.what == "The service worker was stopped."
    qtbot.waitUntil(lambda: not session.exists(), timeout=WAIT_MS)


def test_the_end_of_the_application_drops_what_is_open(qtbot, service, pictures):
    open_request = Answers()
    service.send(describe(pictures), open_request.append)
    service.end()
    assert open_request == []
    assert process_id(service) == 0


def test_a_program_that_is_no_worker_is_reported(qtbot):
    for command in (
        [sys.executable, "-c", "print('hello')"],
        [sys.executable, "-c", "import time; print('x' * 2_000_000, flush=True); time.sleep(60)"],
        ["/no/such/program"],
        *(
            [sys.executable, "-c", f"import time; print({line!r}, flush=True); time.sleep(60)"]
            for line in (OTHER_HELLO, OTHER_ANSWER)
        ),
    ):
        service = ServiceProcess(command=command)
        answers = Answers()
        service.send(WarmUp(id=0, model="x"), answers.append)
        qtbot.waitUntil(lambda answers=answers: answers.is_over, timeout=WAIT_MS)
        assert isinstance(answers.last, Failed)
        assert answers.last.error.what.endswith(".")
        service.end()


def test_the_last_log_lines_show_why_it_died(qtbot):
    noise = "W0000 00:00:1764291723.123 1 computation_placer.cc:177] computation placer already"
    program = f"import sys; print('{noise}\\nout of paper', file=sys.stderr); sys.exit(3)"
    service = ServiceProcess(command=[sys.executable, "-c", program])
    lines, answers = [], Answers()
    service.log_line.connect(lines.append)
    service.send(WarmUp(id=0, model="x"), answers.append)
    qtbot.waitUntil(lambda: answers.is_over, timeout=WAIT_MS)
    assert "exit code 3" in answers.last.error.what
    assert answers.last.error.received == "out of paper"
    assert lines == [noise, "out of paper"]
    service.end()


def test_an_endless_log_line_comes_in_pieces(qtbot):
    program = "import sys; sys.stderr.write('x' * 1_000_000); sys.exit(3)"
    service = ServiceProcess(command=[sys.executable, "-c", program])
    pieces, answers = [], Answers()
    service.log_line.connect(pieces.append)
    service.send(WarmUp(id=0, model="x"), answers.append)
    qtbot.waitUntil(lambda: answers.is_over, timeout=WAIT_MS)
    assert {len(piece) for piece in pieces} == {64 * 1024 + 1}
    assert sum(map(len, pieces)) > 900_000
    service.end()


def test_what_cannot_be_sent_is_answered_like_everything_else(qtbot, service):
    answers = Answers()
    service.send(WarmUp(id=0, model="\ud800"), answers.append)
    assert answers == []
    qtbot.waitUntil(lambda: answers.is_over, timeout=WAIT_MS)
    assert answers.last.error.kind == "WireError"
