"""Fixtures for all lanes."""

from __future__ import annotations

import faulthandler
import gc
import importlib
import os
import signal
import sys
from pathlib import Path

import coverage
import pytest
import send2trash.plat_other
from _pytest.faulthandler import fault_handler_stderr_fd_key
from hypothesis import HealthCheck, settings

from tests import leftovers
from tests.leftovers import Leftovers

IS_CI = "CI" in os.environ

# Speed belongs to the benchmarks: a busy machine must not fail a property. CI tries the
# same examples each time; at home each run tries new ones.
settings.register_profile(
    "house",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=IS_CI,
)
settings.register_profile("quick", parent=settings.get_profile("house"), max_examples=25)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background of a shell: tests of Ctrl+C, and the processes they start,
    # would never receive it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
settings.load_profile("house")

_SESSION = pytest.StashKey[pytest.Session]()

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


def pytest_configure(config):
    if config.option.markexpr == "not full" and not IS_CI:
        settings.load_profile("quick")


@pytest.hookimpl(tryfirst=True)  # before `-m` selects
def pytest_collection_modifyitems(items):
    """Marks as `full` each set of parameters that `full_but` does not name."""
    kept = {}
    for item in items:
        for mark in item.iter_markers("full_but"):
            ids = {item.callspec.id, *item.callspec.id.split("-")}
            if not ids & {*mark.args}:
                item.add_marker("full")
            kept.setdefault((item.parent, item.originalname), []).append(bool(ids & {*mark.args}))
    for (module, name), of_test in kept.items():
        if len(of_test) > 1 and not any(of_test):
            raise pytest.UsageError(f"{module.nodeid}::{name}: full_but names no set of parameters")


def pytest_collection_finish():
    leftovers.watch()  # now that Qt is imported, if it will be
    leftovers.freeze_modules()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    session.config.stash[_SESSION] = session
    gc.disable()  # no object of Qt is freed any more: see below


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure(config):
    """Ends the process at once where TensorFlow or Qt is loaded, as the product's processes do.

    An iterator of TensorFlow that is destroyed while Python ends waits forever for a thread that
    needs Python; Qt's objects may be freed in an order that crashes. All has been reported. First
    of all plug-ins: that of faulthandler would go, and a crash here would leave no trace.
    """
    session = config.stash.get(_SESSION, None)
    if session is None or not {"tensorflow", "PySide6.QtCore"} & sys.modules.keys():
        return
    if measured := coverage.Coverage.current():
        measured.stop()
        measured.save()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(session.exitstatus))


@pytest.fixture(autouse=True)
def _leftovers(request):
    """Fails a test that leaves threads, processes, windows or timers, or that logs a warning
    which it does not expect; ends after all other fixtures of the test.
    """
    of_test = Leftovers()
    yield of_test
    values = request.node.funcargs or {}  # None while pytest ends after Ctrl+C
    if "tmp_path" in values:
        of_test.marks.append(str(values["tmp_path"]))
    values.clear()  # pytest itself must not keep the test's window
    found = of_test.found()
    leftovers.freeze_modules()
    if not faulthandler.is_enabled():  # the window has its own, and ends all with it
        faulthandler.enable(request.config.stash[fault_handler_stderr_fd_key])
    if found:
        pytest.fail("\n".join(found), pytrace=False)


@pytest.fixture
def expect_log(_leftovers):
    """A function (pattern): a record of logging that the test must bring about, as LEVEL NAME:
    MESSAGE.
    """
    return _leftovers.expected_logs.append


@pytest.fixture(autouse=True)
def _fresh_home(_leftovers, tmp_path_factory, monkeypatch):
    """Each test has its own runs, cache, settings and downloads: never the developer's."""
    home = str(tmp_path_factory.mktemp("home"))
    _leftovers.marks.append(home)
    monkeypatch.setenv("WORKBENCH_HOME", home)
    monkeypatch.setenv("KERAS_HOME", f"{home}/keras")


@pytest.fixture(autouse=True)
def _connected(_leftovers, monkeypatch):
    """Whether this computer has a network is no part of a test, but where it says so."""
    monkeypatch.setattr("workbench.downloads.download.has_route", lambda address: True)


@pytest.fixture
def home_trash(tmp_path, monkeypatch):
    """The trash of a new home, on the disk of the test's runs: never the developer's.

    Send2Trash reads the variable when it is imported, so its module is loaded again.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    with monkeypatch.context() as changed:
        changed.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
        importlib.reload(send2trash.plat_other)
        yield tmp_path / "share" / "Trash"
    importlib.reload(send2trash.plat_other)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real pictures beside the checkout in development and CI."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the shared data folder is not beside this checkout")
    return folder


@pytest.fixture
def written():
    """Makes runs as a trainer writes them; those that still live end with the test."""
    from tests.written_runs import WrittenRun

    runs = []

    def make(*args, **keywords):
        runs.append(WrittenRun(*args, **keywords))
        return runs[-1]

    yield make
    for run in runs:
        run.end()


@pytest.fixture
def no_new_processes(monkeypatch):
    """A computer that starts no processes for the queue of runs: a real one would have to be
    brought to its limit, and root has none.
    """
    from workbench.errors import RunError
    from workbench.runs.state import queue

    def start(run, *, resume=False, extension=None):
        try:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        except OSError as error:
            raise RunError("The trainer could not be started.") from error

    monkeypatch.setattr(queue, "start_trainer", start)
