"""All faults, by transport. `python -m scripts.client_faults_page` writes docs/client-faults.md from them."""

from __future__ import annotations

from typing import Final

from tests.client.faults import over_http, over_stdio, over_websocket
from tests.client.faults.row import Fault

SECTIONS: Final[dict[str, list[Fault]]] = {
    "HTTP": over_http.ROWS,
    "stdio": over_stdio.ROWS,
    "WebSocket": over_websocket.ROWS,
}
