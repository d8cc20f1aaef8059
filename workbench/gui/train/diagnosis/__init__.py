"""The findings on the run that is shown, and what is done with them."""
