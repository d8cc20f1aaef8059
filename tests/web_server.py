"""A web server of this computer for tests of downloads, with the faults of real ones."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from workbench.downloads.download import Download


class WebServer:
    """Serves `files` by path.

    Below /cut/ an answer breaks off after half of what is left; below /whole/ ranges are ignored;
    what is in `moved` leads elsewhere. `asked` holds (path, Range) of each request.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.moved: dict[str, str] = {}
        self.headers: dict[str, str] = {}
        self.asked: list[tuple[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                wanted = self.headers.get("Range", "")
                outer.asked.append((self.path, wanted))
                fault, name = outer.split(self.path)
                if name in outer.moved:
                    self.send_response(302)
                    self.send_header("Location", outer.moved[name])
                    self.end_headers()
                    return
                data = outer.files.get(name)
                if data is None:
                    self.send_error(404)
                    return
                start = int(wanted.removeprefix("bytes=")[:-1] or 0) if fault != "whole" else 0
                if start >= len(data) and start:
                    self.send_error(416)
                    return
                self.send_response(206 if start else 200)
                if start:
                    self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
                self.send_header("Content-Length", str(len(data) - start))
                if name.endswith(".gz"):  # as many a server calls it
                    self.send_header("Content-Encoding", "gzip")
                for key, value in outer.headers.items():
                    self.send_header(key, value)
                self.end_headers()
                rest = data[start:]
                self.wfile.write(rest[: (len(rest) + 1) // 2] if fault == "cut" else rest)

            def log_message(self, *_: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()

    def split(self, path: str) -> tuple[str, str]:
        """The fault that a path asks for, and the file."""
        first, _, rest = path.removeprefix("/").partition("/")
        return (first, f"/{rest}") if first in {"cut", "whole"} else ("", path)

    def put(self, name: str, data: bytes, *, title: str = "Letters", fault: str = "") -> Download:
        """Serves a file; returns how it is fetched."""
        self.files[f"/{name}"] = data
        folder = f"{self.address}/{fault}" if fault else self.address
        return Download(title, f"{folder}/{name}", hashlib.sha256(data).hexdigest())

    def ranges(self) -> list[str]:
        """What was asked for of each file, "" for all of it."""
        return [wanted for _, wanted in self.asked]

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def web_server() -> Iterator[WebServer]:
    """A server that is stopped in the end."""
    server = WebServer()
    try:
        yield server
    finally:
        server.stop()
