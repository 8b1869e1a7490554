"""What a certification measures of a server's sandbox: a canary in it, and tools that claim to only read."""
