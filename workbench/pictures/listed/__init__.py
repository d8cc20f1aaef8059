"""Tables (CSV) that list images with their labels.

Read here alone: as a data set, as a preview, and as the true classes of an evaluation. `text` makes
lines of cells; `Chooser` decides which columns are image, label and part, by what the columns and
the files that they name show; `Given` holds what a person has set; `LabelTexts` makes classes of
cells. Each decision is an `Inference`. How far columns and files agree is counted in the worker, so
that window and terminal show the same.

`names` has the words for parts (train, eval, test1), which mean the same in every source.
"""
