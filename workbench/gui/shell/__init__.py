"""The main window: menus, bars, views, drops."""
