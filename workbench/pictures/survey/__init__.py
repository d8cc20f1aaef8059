"""Reading a data set for the data check: every image once, in threads.

The result is columns of facts (`Survey`); the rules of the data check read these and no image.
"""
