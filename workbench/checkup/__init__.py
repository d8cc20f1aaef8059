"""Checks of a computer or target before anybody relies on it: doctor, parity, first TPU run."""
