"""The evaluate view: confusion matrix and scores per class."""
