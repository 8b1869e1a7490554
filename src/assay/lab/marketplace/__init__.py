"""The marketplace's profile: what it asks of a server beyond the protocol, on stdio and HTTP.

Every demand of the profile is a requirement (`CONF-JRPC-03.batch`) and its results go by that name.
"""
