"""Values that cross the wire or the layers: no behaviour beyond checking themselves."""
