"""An HTTP/1.1 server for one ASGI application, as lean as one endpoint allows."""
