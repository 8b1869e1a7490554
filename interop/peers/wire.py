"""HTTP clients that record sessions and resumptions, for use with any Python SDK."""

from typing import Any

import httpx2
from report import expect

TIMEOUT = httpx2.Timeout(30.0, read=300.0)


class Wire:
    """Creates HTTP clients that record their sessions and resumed streams."""

    def __init__(self) -> None:
        self.sessions: list[str] = []
        self.resumptions = 0

    def client(self, **options: Any) -> httpx2.AsyncClient:
        hooks = {"request": [self._on_request], "response": [self._on_response]}
        return httpx2.AsyncClient(**{"timeout": TIMEOUT, **options, "event_hooks": hooks})

    async def _on_request(self, request: httpx2.Request) -> None:
        self.resumptions += "last-event-id" in request.headers

    async def _on_response(self, response: httpx2.Response) -> None:
        if session := response.headers.get("mcp-session-id"):
            self.sessions.append(session)

    def expect_resumption(self) -> None:
        """Assert a resumption; otherwise an answer on an unbroken connection would count."""
        if not self.resumptions:
            raise AssertionError("the client never resumed a stream")

    async def expect_deleted(self, url: str) -> None:
        """Assert that the server deleted the session, with a request that names it."""
        headers = {"mcp-session-id": self.sessions[0], "accept": "application/json, text/event-stream"}
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        async with httpx2.AsyncClient(timeout=TIMEOUT) as http:
            answer = await http.post(url, json=ping, headers=headers)
        expect(answer.status_code, 404, "status of a request in the deleted session")
