"""Labels of arrays and records as classes.

Features of records and arrays beside the images that say the part of an image (`said_parts`) are
read by the rules for columns of tables (`workbench.pictures.listed`): train, eval and test1 mean
the same in every source.
"""
