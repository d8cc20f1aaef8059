"""Views with the real parts behind them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.gui.views.scripted import ScriptedService, give_weights
from tests.window_parts import window_context
from workbench.gui.classify.view import ClassifyView
from workbench.gui.common.weights_loader import WeightsLoader
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
