"""Statistics of an evaluation: intervals, top-k accuracy, ROC and precision-recall, thresholds,
significance, slices. Arrays and numbers alone.

All figures of probabilities are computed here, by scikit-learn's definitions;
`packaging/prove.sh figures` compares the two.
"""
