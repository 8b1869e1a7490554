"""An authorization server for development and tests only.

`authority.Authority` holds its state, `app.AuthorityApp` is its ASGI application. It shares no code with the
verification of tokens in `assay.auth`, so that each can test the other.
"""
