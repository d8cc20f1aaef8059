"""Forms made from parameters."""
