"""The page of a ready folder, in a browser: a dropped image gets the label that Workbench gives."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
import urllib.parse
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import SimpleQueue

import pytest

from tests.worker.exporting.test_formats import classified, exported

pytestmark = pytest.mark.worker

DEADLINE_S = 120.0

DROPPING = """<!doctype html><iframe src="index.html"></iframe><script>
onload = async () => {
  const page = document.querySelector("iframe").contentWindow, find = (name) => page.document.querySelector(name);
  const wait = async (test) => { while (!test()) await new Promise((done) => setTimeout(done, 50)); };
  await wait(() => !find("input").disabled);
  const answers = [];
  for (const name of NAMES) {
    const image = new page.File([await (await fetch(name)).blob()], name);
    const dataTransfer = new page.DataTransfer();
    dataTransfer.items.add(image);
    find("#answer").textContent = "";
    page.dispatchEvent(new page.DragEvent("drop", { dataTransfer }));
    await wait(() => find("#answer").textContent);
    answers.push(find("#answer").textContent);
  }
  await fetch("/answers?" + encodeURIComponent(JSON.stringify(answers)));
};
</script>"""


class Handler(SimpleHTTPRequestHandler):
    """Files of the folder alone, as Python's own server has them; and what the test asks."""

    def __init__(self, *arguments, answers, **more):
        self.answers = answers
        super().__init__(*arguments, **more)

    def do_GET(self):
        if self.path.startswith("/answers?"):
            self.answers.put(urllib.parse.unquote(self.path.partition("?")[2]))
        super().do_GET()

    def log_message(self, *arguments):
        pass


@pytest.fixture
def served(tmp_path):
    """A server of the folder "ready", and what it is sent."""
    answers = SimpleQueue()
    handler = partial(Handler, directory=str(tmp_path / "ready"), answers=answers)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}", answers
        server.shutdown()


def test_an_image_dropped_on_the_page_gets_its_label(colors, photos, service, served, tmp_path):
    folder, (address, answers) = tmp_path / "ready", served
    exported(service, colors, "tensorflowjs", folder, is_ready_folder=True)
    names = [f"photo{number}{Path(path).suffix}" for number, path in enumerate(photos)]
    for name, path in zip(names, photos, strict=True):
        shutil.copyfile(path, folder / name)
    (folder / "dropping.html").write_text(DROPPING.replace("NAMES", json.dumps(names)))
    started = ("chromium", "--headless", "--no-sandbox", "--enable-unsafe-swiftshader")
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    command = [*started, profile, "--remote-debugging-port=0", f"{address}/dropping.html"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True) as browser:
        try:
            found = json.loads(answers.get(timeout=DEADLINE_S))
        finally:
            os.killpg(browser.pid, signal.SIGKILL)
    for text, (label, probability) in zip(found, classified(service, colors, photos), strict=True):
        shown, _, share = text.rpartition(" ")
        assert shown == label
        assert float(share) == pytest.approx(probability, abs=5e-3)
