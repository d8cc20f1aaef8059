"""How far an answer can be trusted: temperature, reliability, thresholds, distance to the training
images. Arrays and numbers alone; what a run keeps of them is in its model card.

- `fit` alone decides which temperature validation images justify: shrunk by what chance explains,
  kept only where cross-validation shows that it helps.
- `distance` has the limit of the distance to the training images (`Limit`), and how sure it is.
- `unknown_reason` decides whether an answer counts as "unknown". It is called where the model
  answers, so that window and terminal only display the result.
- `TrueClasses.is_right` alone defines right, wrong, or neither.
"""
