"""Models and weights from files: our runs, `.keras`, `.h5`, notebook results.

- `load_runner` makes a model that classifies: by ONNX Runtime where it can, else in Keras. The
  network is always built of our own graph, never of a foreign configuration.
- The outputs of the last hidden layer for a run's images are computed once for its weights
  (`image_features`) and serve the map, nearest images and lassos.
- Which output of a foreign network is which class (`class_order`) is judged on images, else asked.
- A notebook's result holds the digest of its images and where its split was cut;
  `refuse_other_images` refuses it where the project's images are others by now.
"""
