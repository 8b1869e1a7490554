"""A page for people is where the manifests should be."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, newest_of_each_kind, on_response
from assay.lab.marketplace.cap_sabotaging import is_manifest


@on_response("a manifest is a page", breaks="CONF-CAP-03.manifests.form", window=newest_of_each_kind)
def change(response: Response, context: FaultContext) -> None:
    if is_manifest(context):
        response.set("Content-Type", "text/html")
        response.body = b"<p>Our tools</p>"
