"""ROC and precision-recall curves of an evaluation, and thresholds that are chosen on them."""
