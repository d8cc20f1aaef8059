"""Reaching another computer: ssh, host keys, saved hosts."""
