"""An MCP server beside a Django site, and behind its authentication, in one file.

    uvicorn examples.django_app:application --timeout-graceful-shutdown 5

Django cannot mount ASGI applications, so `application` routes: /mcp goes to the MCP server, everything else
to Django. /account/mcp is a view instead: Django's middleware runs first, and handlers see its user. Both
need ASGI; under WSGI, do as flask_app.py.
"""

from collections.abc import AsyncIterator
from typing import Any

import django
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

import assay
from assay import Context, Scope, Server

if not settings.configured:
    settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["localhost"], SECRET_KEY="only for this example")
    django.setup()

server = Server("django", version="1.0.0")
# Django has already routed the request.
server.configure_http(path=None, allowed_hosts=settings.ALLOWED_HOSTS)


@server.tool
async def count(to: int, ctx: Context) -> str:
    """Count, and report progress."""
    for number in range(to):
        await ctx.progress(number + 1, total=to)
    return f"counted to {to} for {ctx.scope.principal or 'anyone'}"


async def parts(response: assay.Response) -> AsyncIterator[bytes]:
    assert response.stream is not None
    try:
        async for part in response.stream:
            yield part
    finally:
        await response.close()  # the client may have disconnected


@csrf_exempt  # MCP clients send no cookies; the server checks Origin
async def account(request: HttpRequest) -> HttpResponseBase:
    user = request.headers.get("X-User")  # in a site with accounts: (await request.auser()).username
    caller = Scope(principal=user)
    response = await server.http(
        request.method or "", request.get_full_path(), request.headers, request.body, scope=caller
    )
    content = {"status": response.status, "headers": dict(response.headers)}
    if response.stream is None:
        return HttpResponse(response.body, **content)
    return StreamingHttpResponse(parts(response), **content)


urlpatterns = [path("account/mcp", account)]
site = get_asgi_application()
mcp = server.asgi(allowed_hosts=settings.ALLOWED_HOSTS)


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    # Django does not know the lifespan protocol, which starts and stops the MCP server.
    ours = scope["type"] == "lifespan" or scope["path"].startswith("/mcp")
    await (mcp if ours else site)(scope, receive, send)
