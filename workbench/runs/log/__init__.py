"""The event log of a run, and what is computed from it.

JSON lines, numbered without gaps, each with a checksum; appended by one process and read by any. A
torn line is counted and skipped, and a full disk does not stop the writer.

The texts for events (`event_text`), for which weights and images a figure belongs to (`scores`,
which also names what was chosen on them) and for overfitting or divergence (`verdict`) are made
here alone, for window and terminal.
"""
