"""The client: calls servers over every transport, in every revision."""
