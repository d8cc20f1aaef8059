"""The sections of a report, one module each: `section(facts)` makes it, whatever is missing.

A section reads `Facts` alone, no file, and says what is missing. `compose` has their order.
"""
