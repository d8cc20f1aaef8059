"""Files from the internet: fetched once, checked, kept; the only place that reaches a web server.

`download` says what a file is and where, `fetch` keeps it, `transfer` reads it from its server.

Not by pooch: it unpacks a .gz file whose server sends it as "Content-Encoding: gzip", so that
the checksum no longer fits, and it begins again after a broken connection.
"""
