"""How to train: the recipe, learning-rate schedules, phases, splits, rules of progress.

- `learning_rates` alone computes the learning rate of a step: the drawn curve, the trainer, a
  resumed run and the exported script use the same function.
- A training has one phase, or two: the head on frozen layers, then fine-tuning (`phases_of`). The
  second starts from the first one's weights with an optimizer of its own. Where early stopping ends
  the first, its remaining epochs are skipped: step numbers do not change. A checkpoint from where
  the phases meet belongs to both.
- Splits use arithmetic of their own (`split`), so that a run's test part stays the same with every
  version of NumPy.
"""
