"""The scenarios of the official suite for clients, authorization aside."""
