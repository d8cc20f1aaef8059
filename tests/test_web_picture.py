"""Pictures from a web server of this computer that leads in circles, never ends, or is slow."""

from __future__ import annotations

import itertools
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.contexts import CancelledForTest, PlainContext
from workbench.downloads import opener
from workbench.downloads.download import is_web_address
from workbench.downloads.opener import MAX_REDIRECTS
from workbench.downloads.web_picture import Limits, read_web_picture
from workbench.errors import DownloadError

CONTENT = bytes(range(256)) * 4096  # 1 MB


class Strange:
    """A server of this computer; what it does is named by the path."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.over = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                name, _, rest = self.path.removeprefix("/").partition("/")
                try:
                    does = getattr(self, f"_{name}", None)
                    self.send_error(404) if does is None else does(rest)
                except OSError:
                    return  # whoever was reading has gone

            def _whole(self, _rest: str) -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(len(CONTENT)))
                self.end_headers()
                self.wfile.write(CONTENT)

            def _chunked(self, _rest: str) -> None:
                self.protocol_version = "HTTP/1.1"
                self.send_response(200)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for start in range(0, len(CONTENT), 65_536):
                    piece = CONTENT[start : start + 65_536]
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.write(b"0\r\n\r\n")

            def _to(self, rest: str) -> None:
                self.send_response(302)
                self.send_header("Location", rest)
                self.end_headers()

            def _loop(self, _rest: str) -> None:
                self._to("/loop/")

            def _further(self, rest: str) -> None:
                self._to(f"/further/{int(rest) + 1}")

            def _endless(self, _rest: str) -> None:
                self.send_response(200)
                self.end_headers()
                while not outer.over.is_set():
                    self.wfile.write(CONTENT)

            def _talking(self, _rest: str) -> None:
                self.send_response(302)
                self.send_header("Location", "/whole/")
                self.end_headers()
                while not outer.over.is_set():
                    self.wfile.write(CONTENT)

            def _boasting(self, _rest: str) -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(1 << 40))
                self.end_headers()

            def _cut(self, _rest: str) -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(2 * len(CONTENT)))
                self.end_headers()
                self.wfile.write(CONTENT)

            def _dripping(self, _rest: str) -> None:
                self.send_response(200)
                self.end_headers()
                while not outer.over.wait(0.02):
                    self.wfile.write(b"x")

            def _silent(self, _rest: str) -> None:
                outer.over.wait()

            def _dripping_head(self, _rest: str) -> None:
                self.wfile.write(b"HTTP/1.1 200 OK\r\nX-A: ")
                while not outer.over.wait(0.02):
                    self.wfile.write(b"x")

            def log_message(self, *_: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self.address = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def stop(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Strange]:
    server = Strange()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(autouse=True)
def direct(monkeypatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def ctx(tmp_path) -> PlainContext:
    return PlainContext(tmp_path)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("https://a.org/x.png", True), ("http://127.0.0.1:8000/x", True), ("http://[::1]/x", True),
     ("https://müller.de/a?b=c#d", True), ("ftp://a.org/x.png", False), ("file:///etc/passwd", False),
     ("http://", False), ("https:///x", False), ("http://me:secret@a.org/x", False),
     ("http://a.org:99999/", False), ("http://a.org/a b.png", False), ("http://a.org/\n", False),
     ("a rose", False), ("", False), ("http://[::1/x", False), (f"http://a.org/{'x' * 5000}", False)],
)  # fmt: skip
def test_what_is_a_web_address(text, is_one, ctx):
    assert is_web_address(text) is is_one
    if not is_one:
        with pytest.raises(DownloadError, match="not a web address"):
            read_web_picture(text, ctx)
        assert ctx.reported == []


@pytest.mark.parametrize("path", ["whole/", "chunked/", "to//whole/", "talking/"])
def test_a_picture_is_read_with_progress_also_where_a_server_leads_elsewhere(server, ctx, path):
    assert read_web_picture(f"{server.address}/{path}", ctx) == CONTENT
    assert ctx.reported[0] == (f"Connecting to 127.0.0.1:{server.port}", None)
    words, fraction = ctx.reported[-1]
    assert words.startswith(f"Downloading the image from 127.0.0.1:{server.port}: 1.0")
    assert fraction == (None if path == "chunked/" else 1.0)


@pytest.mark.parametrize(
    ("path", "words"),
    [("loop/", "too many redirects"), ("further/0", "too many redirects"),
     ("to/file:///etc/passwd", "leads nowhere"), ("gone/", "refused the request"),
     ("cut/", "connection was lost"), ("endless/", "too large"), ("boasting/", "too large")],
)  # fmt: skip
def test_what_a_server_does_instead_is_named(server, ctx, path, words):
    address = f"{server.address}/{path}"
    with pytest.raises(DownloadError, match=words) as caught:
        read_web_picture(address, ctx, Limits(num_bytes=4 * len(CONTENT)))
    assert caught.value.where == address
    assert len(server.asked) <= MAX_REDIRECTS + 1


@pytest.mark.parametrize("path", ["dripping/", "silent/", "dripping_head/"])
def test_a_slow_server_is_not_waited_for_longer_than_the_limit(server, ctx, path):
    with pytest.raises(DownloadError, match="too slow") as caught:
        read_web_picture(f"{server.address}/{path}", ctx, Limits(seconds=0.5))
    assert caught.value.received == "not complete after 0.5 s"


@pytest.mark.parametrize("path", ["dripping/", "silent/", "dripping_head/", "endless/"])
def test_a_download_can_be_canceled_whatever_the_server_does(server, tmp_path, path):
    with pytest.raises(CancelledForTest):
        read_web_picture(f"{server.address}/{path}", PlainContext(tmp_path, cancel_after=4))


def test_a_server_that_is_not_there_is_named(ctx):
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{reserved.getsockname()[1]}/x.png"
        with pytest.raises(DownloadError, match="no connection"):
            read_web_picture(address, ctx)


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.2", "[::ffff:127.0.0.1]", "127.0.0.%31", "l%6fcalhost"]
)
def test_a_server_elsewhere_cannot_lead_to_a_private_address(server, ctx, host, monkeypatch):
    """The first server has a name of its own: it is not the one that it leads to."""
    real = socket.getaddrinfo
    names = {"elsewhere.example": "127.0.0.1"}
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda name, *more, **kw: real(names.get(name, name), *more, **kw)
    )
    start = f"http://elsewhere.example:{server.port}"
    assert read_web_picture(f"{start}/whole/", ctx) == CONTENT  # it was named by the user
    server.asked.clear()
    leads = f"{start}/to/http://{host}:{server.port}/whole/"
    with pytest.raises(DownloadError, match=r"private address|no connection") as caught:
        read_web_picture(leads, ctx)
    assert len(server.asked) == 1
    if host == "localhost":
        assert caught.value.received == "a redirect to localhost"


def test_a_public_server_cannot_lead_to_its_own_name_with_a_private_address(
    server, ctx, monkeypatch
):
    """The name has another address when it is looked up again (DNS rebinding)."""
    real, seen = opener._is_private, []

    def public_at_first(number):
        seen.append(number)
        return len(seen) > 1 and real(number)

    monkeypatch.setattr(opener, "_is_private", public_at_first)
    with pytest.raises(DownloadError, match="private address"):
        read_web_picture(f"{server.address}/to//whole/", ctx)
    assert server.asked == ["/to//whole/"]
    assert seen == ["127.0.0.1", "127.0.0.1"]


@pytest.mark.parametrize(
    ("number", "is_private"),
    [("10.0.0.1", True), ("192.168.1.1", True), ("169.254.169.254", True), ("100.64.0.1", True),
     ("::1", True), ("fe80::1%eth0", True), ("::ffff:10.0.0.1", True), ("0.0.0.1", True),
     ("8.8.8.8", False), ("2606:4700::1111", False), ("example.org", False), ("LOCALHOST", True)],
)  # fmt: skip
def test_what_is_a_private_address(number, is_private):
    assert opener._is_private(number) is is_private


def test_a_proxy_is_used_and_may_be_private(server, ctx, monkeypatch):
    """A request to a proxy has the whole address; to a host of its own network it is refused."""
    monkeypatch.setenv("http_proxy", server.address)
    with pytest.raises(DownloadError, match="refused the request"):
        read_web_picture("http://elsewhere.example/x.png", ctx)
    assert server.asked == ["http://elsewhere.example/x.png"]


@pytest.mark.parametrize(
    ("address", "sent"),
    [("http://a.org/Rosé blühend.jpg".replace(" ", "%20"), "http://a.org/Ros%C3%A9%20bl%C3%BChend.jpg"),
     ("https://müller.de:8080/x?q=ü#top", "https://xn--mller-kva.de:8080/x?q=%C3%BC"),
     ("http://a.org", "http://a.org")],
)  # fmt: skip
def test_letters_of_any_language_are_sent_as_browsers_do(address, sent):
    assert opener._encoded(address) == sent


def test_many_downloads_leave_no_threads(server, ctx):
    before = threading.active_count()
    for _ in itertools.repeat(None, 5):
        read_web_picture(f"{server.address}/whole/", ctx)
    assert not [each for each in threading.enumerate() if each.name == "watch a download"]
    assert threading.active_count() <= before + 5  # the server's own
