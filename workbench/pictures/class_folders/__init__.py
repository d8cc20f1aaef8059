"""Which folders are the classes, and which the parts, of pictures sorted into folders."""
