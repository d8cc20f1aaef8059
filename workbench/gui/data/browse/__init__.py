"""All images of a data set, to look through: found, enlarged, left out, relabeled."""
