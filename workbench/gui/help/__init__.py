"""Help pages, shortcuts, settings, about."""
