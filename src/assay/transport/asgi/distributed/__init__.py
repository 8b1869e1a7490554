"""Sessions that several processes serve, by a store that all of them use."""
