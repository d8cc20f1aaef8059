"""The messages between processes: frozen values, one JSON line each. What a kind of message is, and
what a request is answered, is said by its class alone (`bases`); `wire` finds it in this folder.
"""
