"""Values that cross the wire or the layers, with no behaviour but validation."""
