"""`workbench classify` of web addresses and of a watched folder, with a real worker."""

from __future__ import annotations

import csv
import json
import queue
import resource
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import nullcontext

import pytest
from PIL import Image

from tests.web_server import web_server
from tests.worker.requests.brightness import brightness_alone
from workbench.cli import _service, main

pytestmark = pytest.mark.worker


@pytest.fixture(scope="module")
def brightness(tmp_path_factory):
    with brightness_alone(tmp_path_factory.mktemp("brightness")) as brightness:
        yield brightness


@pytest.fixture(autouse=True)
def direct(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run_command(brightness, monkeypatch, capsys):
    """Runs `classify` in this process: (its exit code, its lines of JSON)."""
    monkeypatch.setattr(_service, "ServiceCall", lambda: nullcontext(brightness.call))

    def run(*words):
        code = main(["classify", brightness.run, *map(str, words), "--json"])
        return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return run


def picture(path, brightness):
    Image.new("L", (6, 4), brightness).save(path)
    return path


def test_addresses_are_classified_beside_files_and_bad_ones_are_named(run_command, tmp_path):
    with web_server() as server:
        server.files["/bright"] = picture(tmp_path / "a.png", 230).read_bytes()
        server.files["/page.png"] = b"<!doctype html><html></html>"
        server.moved["/moved"] = "/bright"
        table = tmp_path / "table.csv"
        names = ["bright", "moved", "page.png", "gone.png"]
        addresses = [f"{server.address}/{name}" for name in names]
        dark = picture(tmp_path / "dark.png", 9)
        code, lines = run_command(*addresses, dark, "--csv", table)
        assert code == 1, "some could not be read, as the program of an export says"
        assert [line["file"] for line in lines] == [*addresses, str(dark)]
        labels = ["bright", "bright", None, None, "dark"]
        assert [line.get("label") for line in lines] == labels
        assert "not an image" in lines[2]["error"]["what"]
        assert "refused the request" in lines[3]["error"]["what"]
        with table.open() as file:
            assert [row["file"] for row in csv.DictReader(file)] == [*addresses, str(dark)]
        assert run_command(addresses[3])[0] == 3
        assert run_command(addresses[0], dark)[0] == 0


@pytest.mark.parametrize("address", ["http://me:secret@127.0.0.1/x.png", "https:///x.png"])
def test_what_is_no_address_is_refused(run_command, address):
    code, (line,) = run_command(address)
    assert code == 2
    assert "not a web address" in line["error"]["what"]


def test_images_of_the_web_are_not_sorted(run_command, tmp_path):
    code, (line,) = run_command("http://127.0.0.1:1/x.png", "--copy-into", tmp_path, "--yes")
    assert code == 2
    assert "web addresses" in line["error"]["what"]


# watched folders -----------------------------------------------------------------------------


class Watching:
    """The command in a process of its own, whose lines are waited for."""

    def __init__(self, run, folder, *words):
        command = [sys.executable, "-m", "workbench", "classify", run, "--watch", str(folder)]
        self.process = subprocess.Popen(
            [*command, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.out, self.err = queue.Queue(), queue.Queue()
        pipes = ((self.process.stdout, self.out), (self.process.stderr, self.err))
        self._threads = [threading.Thread(target=self._read, args=pair) for pair in pipes]
        for thread in self._threads:
            thread.start()

    def _read(self, pipe, lines):
        for line in pipe:
            lines.put(line.rstrip("\n"))

    def wait_for(self, words):
        while words not in (line := self.err.get(timeout=120)):
            pass
        return line

    def line(self):
        return self.out.get(timeout=120)

    def finish(self, *, with_key=True):
        if with_key:
            self.process.send_signal(signal.SIGINT)
        code = self.process.wait(120)
        for thread in self._threads:
            thread.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return code


def test_images_that_appear_are_printed_until_ctrl_c(brightness, tmp_path):
    folder, table = tmp_path / "in", tmp_path / "t.csv"
    folder.mkdir()
    picture(folder / "old.png", 9)
    watching = Watching(brightness.run, folder, "--json", "--csv", table)
    assert "1 file in it left out" in watching.wait_for("Watching")
    picture(folder / "new.png", 240)
    line = json.loads(watching.line())
    assert (line["file"], line["label"]) == (str(folder / "new.png"), "bright")
    whole = picture(tmp_path / "whole.png", 9).read_bytes()
    with (folder / "slow.png").open("wb") as file:
        file.write(whole[:30])
        file.flush()
        picture(folder / "x.png", 250)
        assert json.loads(watching.line())["file"] == str(folder / "x.png")
        file.write(whole[30:])
    line = json.loads(watching.line())
    assert (line["file"], line["label"]) == (str(folder / "slow.png"), "dark")
    assert watching.finish() == 0
    assert watching.wait_for("classified") == "3 images classified."
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [(row["predicted"], row["error"]) for row in rows] == [
        ("bright", ""), ("bright", ""), ("dark", ""),
    ]  # fmt: skip


def test_a_burst_is_printed_as_csv_and_a_folder_that_goes_ends_it(brightness, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    watching = Watching(brightness.run, folder, "--csv", "-")
    watching.wait_for("Watching")
    names = {str(picture(folder / f"{n}.png", n % 256)) for n in range(300)}
    assert watching.line() == "file,predicted,probability,error,unknown,bright,dark"
    assert {watching.line().split(",")[0] for _ in names} == names
    shutil.rmtree(folder)
    assert watching.finish(with_key=False) == 3
    assert watching.wait_for("images") == "300 images classified."
    watching.wait_for("The watched folder is gone.")


def test_rows_that_a_full_disk_has_lost_are_an_error_in_the_end(brightness, tmp_path):
    """The table may not grow beyond 100 bytes: its header and a part of a row."""
    folder, table = tmp_path / "in", tmp_path / "t.csv"
    folder.mkdir()
    watching = Watching(brightness.run, folder, "--csv", table)
    watching.wait_for("Watching")
    resource.prlimit(watching.process.pid, resource.RLIMIT_FSIZE, (100, 100))
    for number in range(3):
        picture(folder / f"{number}.png", 240)
        assert f"{number}.png: bright" in watching.line()
    assert watching.finish() == 3
    assert "t.csv cannot be written" in watching.wait_for("wait in memory")
    assert watching.wait_for("classified") == "3 images classified."
    watching.wait_for("The last rows of the table could not be written.")
    assert table.stat().st_size == 100


@pytest.mark.parametrize("words", [["a.png"], ["--class-folders"], ["--csv", "t.parquet"]])
def test_what_does_not_go_with_watching_is_refused(run_command, tmp_path, words):
    code, (line,) = run_command("--watch", tmp_path, *words)
    assert code == 2
    assert "error" in line
