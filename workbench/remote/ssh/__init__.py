"""Reaching another computer: ssh, host keys, saved hosts.

ssh is called in one way, with one constant command; everything else is data that the program at the
other end (`workbench.host`) reads from stdin. Host keys that the user has accepted are in a file of
our own. What ssh prints when a connection breaks is explained by the table
`resources/faults/ssh.toml`.
"""
