"""All runs together: index, search, comparison, series, trash.

- Folds, repeated seeds and sweeps are series (`series`): a `Plan` lists its runs, which wait in the
  queue. Mean and spread are computed here alone. A series is begun under a lock of the runs folder,
  so that the same one begun twice at once is queued once. What can be swept is in `sweep`, for
  window and terminal.
- `MedianRule` stops hopeless runs of a sweep. The process that writes the run's log on this
  computer applies it: trainer or run mirror.
- `default_models` alone decides which run classifies where the user has chosen none.
- A run that cannot be read has a line in the list.
"""
