"""A matrix of clients, servers, transports and revisions: every pair is run, recorded and judged."""
