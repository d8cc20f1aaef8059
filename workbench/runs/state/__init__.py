"""The state of a run: running, queued, remote, finished or crashed; and what is decided by it.

- The queue needs no window: the end of a trainer or run mirror starts the next queued run of its
  computer (`start_next_after`). This computer and every other one train one run at a time.
- A completed run can be trained longer from the checkpoint of its end (`longer_training`); the
  request stays unchanged.
- A run keeps the edits of its data in request and model card; the marks at which its split was cut
  in log, checkpoint and model card. The next run of the project is cut at the same marks
  (`with_remembered_split`).
- `preparing` keeps how fast runs were trained here; estimates are made of it.
"""
