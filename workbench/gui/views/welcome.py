"""The page the window starts with."""

from __future__ import annotations

from workbench.gui.common.view_spec import MakeView, ViewSpec


def _load() -> MakeView:
    from workbench.gui.files.welcome import WelcomeView

    return WelcomeView


SPEC = ViewSpec(
    key="welcome",
    title="Welcome",
    text="&Welcome page",
    tip="Templates to start from.",
    icon="template",
    order=0,
    load=_load,
    is_start=True,
)
