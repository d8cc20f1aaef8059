"""The state of a run: running, queued, remote, finished or crashed."""
