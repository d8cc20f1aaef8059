"""Reading a data set for the data check: every image once, in threads."""
