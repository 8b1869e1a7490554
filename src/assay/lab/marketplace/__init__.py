"""The marketplace's profile: what it asks of a server beyond the protocol, on stdio and HTTP.

Every sub-check is a row (`CONF-JRPC-03.batch`) and its results go by that name.
"""
