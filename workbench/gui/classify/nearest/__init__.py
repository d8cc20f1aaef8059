"""The training images nearest to the picture that is shown."""
