"""An authorization server for development and tests, and never for more.

`authority.Authority` is the whole of it, `app.AuthorityApp` its ASGI application. It shares no code with the
rest of Assay's authorization, so that one can test the other.
"""
