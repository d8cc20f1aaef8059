"""The only package that imports tensorflow and keras; no Qt."""
