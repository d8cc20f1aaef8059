"""What a run keeps on disk beside its log: checkpoints, weights, results, notes.

- Weights are plain arrays with a checksum (`weights_file`): no pickle, no HDF5, which is a format
  for export only. Reading compares size and names of layers with the network of their card
  (`read_run_weights`). A run that starts from another one's weights has a copy in its folder and
  the checksum in its request (`InitialWeights`).
- A result kept as JSON (evaluation, robustness) is a `KeptFile`: limits, versions, links and dates
  are checked there alone. Arrays are read by `KeptArrays`.
- What a model answered for each image of its latest evaluation is kept from the training's own test
  on (`image_scores`, all probabilities in `class_scores`), one file for each part of the split and
  for other data. It is read in a thread. Slices are made of it (`image_scores`).
- Temperature and thresholds are in the model card; what the distance from the training images is
  measured by is in `references.npz`. A new calibration repeats the kept evaluation; new thresholds
  leave it as it is.
- The image map is two files (`image_map`): features for the worker alone, and the map with each
  image's answer, which the window reads.
- `exports` keeps how the exports compare with the model.
"""
