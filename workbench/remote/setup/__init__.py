"""Making another computer ready: environment, code and data sets."""
