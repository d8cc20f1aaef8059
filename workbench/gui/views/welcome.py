"""The page the window starts with."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from workbench.gui.common.services import WindowServices
from workbench.gui.common.view_spec import MakeView, ViewSpec


def _load() -> MakeView:
    from workbench.gui.files.welcome import WelcomeView
    from workbench.templates import find_template

    def make(services: WindowServices) -> QWidget:
        def watch(path: str) -> None:
            services.context.library.select(path)
            services.show_view("train")

        def show_help(page: str) -> None:
            if page == "shortcuts":
                services.show_shortcuts()
            else:
                services.show_help(page)

        view = WelcomeView(services.context, services.state)
        view.template_chosen.connect(lambda key: services.new_project(find_template(key).project))
        view.empty_chosen.connect(lambda: services.new_project(None))
        view.folder_chosen.connect(services.start_from_folder)
        services.counting.connect(view.show_wait)
        view.file_chosen.connect(services.open_project)
        view.run_asked.connect(watch)
        view.connect_asked.connect(lambda: services.ask_target("connect"))
        view.help_asked.connect(show_help)
        return view

    return make


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
