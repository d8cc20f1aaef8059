"""ROC and precision-recall curves of an evaluation, and thresholds that are chosen on them.

The figures are computed in `workbench.core.evaluation` from the kept probabilities, in a thread.
"""
