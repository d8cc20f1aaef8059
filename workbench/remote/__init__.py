"""Training on another computer over the person's own ssh: connecting, setting up, mirroring.

A remote run is a local run folder whose lock is held by a run mirror: it mirrors the event log
of the other computer byte for byte, so that all code that reads runs works unchanged. Nothing that
comes from a host is unpacked, executed or trusted; texts are cut and made safe before they are
shown.
"""
