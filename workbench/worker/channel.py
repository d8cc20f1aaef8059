"""The worker's end of stdin and stdout: requests come in, answers go out, line by line.

Standard output belongs to the protocol alone. `claim_stdout` is the very first thing a
service worker does: whatever Keras, TensorFlow or a child process prints afterwards goes
to standard error, where the window shows it as the log.
"""

from __future__ import annotations

import os
import sys
import threading

from workbench.errors import WireError
from workbench.protocol.bases import Answer, Request
from workbench.protocol.messages import Failed
from workbench.protocol.wire import (
    MAX_REQUEST_BYTES,
    decode_request,
    encode_answer,
    error_parts,
)


def claim_stdout() -> int:
    """Keeps stdout for the protocol and points any other stdout at stderr.

    Returns:
        The file descriptor that answers are written to; children don't inherit it.
    """
    sys.stdout.flush()
    protocol = os.dup(1)
    os.set_inheritable(protocol, False)
    os.dup2(2, 1)
    return protocol


class Channel:
    """Messages over two file descriptors. `send` may be called from any thread.

    Attributes:
        is_open: False once the other side has gone; sending is then a silent no-op.
    """

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._requests = os.fdopen(read_fd, "rb", closefd=False)
        self._write_fd = write_fd
        self._lock = threading.Lock()
        self.is_open = True

    def send(self, answer: Answer) -> None:
        """Writes one answer.

        Raises:
            WireError: the answer cannot be written as a message; nothing was sent.
        """
        line = encode_answer(answer)
        with self._lock:
            if not self.is_open:
                return
            try:
                while line:
                    line = line[os.write(self._write_fd, line) :]
            except OSError:  # a broken pipe: the client has gone
                self.is_open = False

    def receive(self) -> Request | None:
        """Waits for the next request; None when the other side has closed its end.

        A line that is no request is answered with Failed (id 0) and skipped.
        """
        while line := self._requests.readline(MAX_REQUEST_BYTES + 1):
            try:
                return decode_request(line)
            except WireError as error:
                self.send(Failed(id=0, error=error_parts(error)))
            while line and not line.endswith(b"\n"):  # what is left of one that is too long
                line = self._requests.readline(MAX_REQUEST_BYTES)
        return None
