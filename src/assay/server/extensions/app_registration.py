"""`Server.ui`. What it needs is imported when it is called: few servers have apps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack, cast

from assay.model.result import Cache
from assay.server.bare_decorator import check_argument
from assay.server.components.resource import Access

if TYPE_CHECKING:
    from assay.model.app import Csp, Permission

    from .apps import AppHost

F = TypeVar("F", bound=Callable[..., Any])


class PageOptions(TypedDict, total=False):
    """Those of `Server.resource`."""

    name: str | None
    title: str | None
    description: str | None
    meta: dict[str, Any] | None
    access: Access | None
    cache: Cache | None
    scopes: Sequence[str]
    tags: Collection[str]


class AppRegistration:
    """Base of `Server`."""

    def ui(
        self,
        uri: str,
        *,
        csp: Csp | None = None,
        permissions: Sequence[Permission] = (),
        domain: str | None = None,
        border: bool | None = None,
        **options: Unpack[PageOptions],
    ) -> Callable[[F], F]:
        """Register a function that returns the HTML page of tools, which name it with `ui=`.

            @server.ui("ui://shop/cart")
            async def cart_page() -> str:
                return inline_html("cart.html")

        Clients that show pages get it as a resource; all others see neither the link nor its metadata.

        Args:
            uri: The URI, which begins with `ui://`, or an RFC 6570 template.
            csp: Other origins that the page may use; by default none.
            permissions: What it asks the browser for: `camera`, `microphone`, `geolocation`,
                `clipboard_write`. The host decides.
            domain: The host name of its origin, in the form that the host prescribes.
            border: Whether the host should draw a border.
            name, title, description, meta, access, cache, scopes, tags: As for `resource`.

        Raises:
            RegistrationError: an option is invalid, or the URI is taken.
        """
        check_argument("ui", uri, "a URI", '@server.ui("ui://shop/cart")')
        from assay.model.app import page_metadata

        from .apps import open_apps

        metadata = page_metadata(csp, permissions, domain, border)

        def register(decorated: F) -> F:
            open_apps(cast("AppHost", self)).add(uri, decorated, metadata, **options)
            return decorated

        return register
