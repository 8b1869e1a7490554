"""Only who shows something is looked at."""

from __future__ import annotations

import ssl

from assay.lab.harness.sabotage.saboteur import on_handshake
from assay.lab.marketplace.sec_server import CERTIFIED_SERVER


@on_handshake("who shows no certificate is let in", breaks="CONF-SEC-04.certificate", server=CERTIFIED_SERVER)
def change(context: ssl.SSLContext) -> None:
    context.verify_mode = ssl.CERT_OPTIONAL
