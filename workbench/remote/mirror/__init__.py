"""The run mirror: a process that follows a run on another computer.

It holds the run's lock here and copies the log, whose lines end in checksums. The local log is
always the first bytes of the remote one, so a lost connection or a killed mirror neither loses nor
doubles an event. The end of the run is copied last, after its files.
"""
