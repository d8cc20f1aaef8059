"""Small widgets that views and panels are made of."""
