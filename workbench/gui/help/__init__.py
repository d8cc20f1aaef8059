"""Help pages, shortcuts, settings, about.

Their contents are data: pages in `resources/help`, shortcuts from the actions themselves, settings
from their specs.
"""
