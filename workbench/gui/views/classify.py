"""The classify view: drop an image, read the answer."""

from __future__ import annotations

from workbench.gui.common.view_spec import MakeView, ViewSpec
from workbench.gui.panels import panels_of


def _load() -> MakeView:
    from workbench.gui.classify.view import ClassifyView

    return lambda services: ClassifyView(services.context, panels_of("classify"), services.state)


SPEC = ViewSpec(
    key="classify",
    title="Classify",
    text="&Classify",
    tip="Try pictures.",
    icon="picture",
    shortcut="Ctrl+5",
    order=50,
    load=_load,
)
