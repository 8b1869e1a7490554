"""One server, several worker processes.

    uvicorn examples.workers:app --workers 2
    python examples/workers.py

Each request may reach another process, and this one keeps nothing between requests: `sessions="off"` serves
every message on its own. Clients need no change: a server that gives out no session id has no sessions.
What needs a session is then not offered: subscriptions, announcements of changes, questions to the client.
Clients of 2026-07-28 can be asked all the same, once the workers share a key: `Server(..., sealing=[key])`.
"""

import os
from pathlib import Path

from assay import Server

server = Server("workers", version="1.0.0")


@server.tool
async def who() -> int:
    """The process that answers."""
    return os.getpid()


@server.tool
def square(number: int) -> int:
    """A number times itself, worked out in a thread of that process."""
    return number * number


app = server.asgi(sessions="off")

if __name__ == "__main__":
    import uvicorn

    uvicorn.run("workers:app", app_dir=str(Path(__file__).parent), port=3000, workers=2)
