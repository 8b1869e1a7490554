"""The rules of Streamable HTTP as values: a request's head and message in, a route or a refusal out."""
