"""Views with the real parts behind them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.bright_network import keep_bright_network
from tests.gui.views.pets import keep_pets, write_pets
from tests.gui.views.scripted import ScriptedService, give_weights
from tests.window_parts import window_context
from workbench.gui.classify.view import ClassifyView
from workbench.gui.common.weights import WeightsLoader
from workbench.gui.evaluate.view import EvaluateView
from workbench.gui.panels import panels_of
from workbench.runs.home import data_home


@pytest.fixture
def context(qapp):
    with window_context(data_home()) as context:
        yield context


@pytest.fixture
def open_library(qtbot, context):
    """Reads the list of runs, as the window does after its first paint."""

    def open_now():
        with qtbot.waitSignal(context.library.runs_changed):
            context.library.open()

    return open_now


@pytest.fixture
def show_view(qtbot, context):
    """A function that shows a view in pixels of width and height; it is closed at the end."""
    views = []

    def show(view, width, height):
        views.append(view)
        view.resize(width, height)
        qtbot.addWidget(view)
        with qtbot.waitExposed(view):
            view.show()
        return view

    yield show
    for view in views:
        view.close_background()


@pytest.fixture
def show_evaluate(show_view, context, open_library):
    """A function that shows the evaluate view with the list of runs. Of the context's parts some
    may be others: the workers that a test answers for.
    """

    def show(**parts):
        context.service.end()
        view = show_view(EvaluateView(replace(context, **parts), panels_of("evaluate")), 1200, 800)
        open_library()
        return view

    return show


@pytest.fixture
def pets(tmp_path):
    """A folder of images."""
    return write_pets(tmp_path / "pets")


@pytest.fixture
def pets_run(model, pets):
    """A run that was evaluated on them."""
    run = model("cifar").folder
    keep_pets(run, pets)
    return run


@pytest.fixture
def pets_view(qtbot, show_evaluate, service, pets_run):
    """The evaluate view, which has read what was predicted for them."""
    view = show_evaluate(service=service)
    qtbot.waitUntil(lambda: view.panels["evaluate_images"].scored.images is not None)
    return view


@pytest.fixture
def bright_view(show_view, context, written, open_library):
    """The classify view with a real worker, and a run of which “light” is whatever is bright, by a
    convolution.
    """
    view = show_view(ClassifyView(context, panels_of("classify")), 1200, 800)
    run = written("bright").begin().train(1)
    keep_bright_network(run.folder)
    run.finish()
    open_library()
    return view


# the classify view, with a worker that the test answers for


@pytest.fixture
def service():
    return ScriptedService()


@pytest.fixture
def model(written):
    """A finished run with (the names of) weights."""

    def make(title):
        run = written(title).begin().train(1)
        give_weights(run)
        return run.finish()

    return make


@pytest.fixture
def measurer():
    """The worker for long work."""
    return ScriptedService()


@pytest.fixture
def view(show_view, context, service, measurer):
    context.service.end()
    weights = WeightsLoader(context.document, context.library, service)
    parts = replace(context, service=service, measurer=measurer, weights=weights)
    return show_view(ClassifyView(parts, panels_of("classify")), 1200, 800)


@pytest.fixture
def ready(view, model, open_library):
    """A view with one network."""
    model("cifar")
    open_library()
    return view
