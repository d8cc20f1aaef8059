"""The main window: menus, bars, views, drops.

Actions are data (`resources/actions.toml`); menus, shortcuts and their sheet follow from it. A view
is built when it is first shown. The code of the views is loaded ahead in turns of the event loop
(`preload`), in the window's own thread, because Qt classes must not be defined in another one:
twice about 60 ms, after the first project is opened. While a project is open, a trainer that has
imported TensorFlow is kept ready (`ReadyKeeper`).
"""
