"""The sections of a report, one module each: `section(facts)` makes it, whatever is missing."""
