"""Opening, saving and starting projects, and the welcome page.

The controller asks before anything unsaved is lost. A file that another program has changed is
replaced only when the user has confirmed it.
"""
