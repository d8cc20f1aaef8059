"""The model of the application: plain Python values. No Qt, no TensorFlow.

network       the graph, its differences, layout and folding
training      the recipe, learning rates, phases, splits
projects      the project and its file; edits of the data
checks        the one analysis of a project
specs         what plug-in files declare; `registry` finds them, `params` types their parameters
storage       how files are read and written
coach, data_check, calibration, evaluation    what is found out of runs, images and answers

Single sources at this level, used by window, command line and worker alike:

- `outside_text`: text from elsewhere (names, titles, messages of another computer) gets its safe
  form here alone: a line of the terminal, a table cell, Markdown, code.
- `class_names`: class names are compared, and made different, here alone.
- `confusion`: a confusion matrix is kept as its non-zero cells (`Confusion`), also in messages and
  files. Never make all cells of many classes: for 10,000 classes they are 800 MB.
- `image_map`: PCA, nearest images, and the points inside a lasso.
- `format`: numbers, sizes and durations as text.
"""
