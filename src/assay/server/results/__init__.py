"""What handlers return, as results of the protocol: content, structured content, validated output."""
