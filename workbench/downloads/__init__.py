"""Files from the internet: fetched once, checked, kept; the only place that reaches a web server.

`download` says what a file is and where, `fetch` keeps it, `transfer` reads it from its server, and
`read_web_picture` reads an image at any address into memory: in a worker or a command, within
limits of size, time and redirects. All connections are made by `opener`. A private address
(loopback, link-local, own network) is contacted only where the user has named it, never by a
redirect. A file without a checksum comes from the host that was named.

Not by pooch: it unpacks a .gz file whose server sends it as "Content-Encoding: gzip", so that
the checksum no longer fits, and it begins again after a broken connection.
"""
