"""One server, several worker processes of another HTTP server. Assay's own needs no store and keeps sessions:
`assay serve examples/workers.py --transport http --workers 2`.

    uvicorn examples.workers:app --workers 2
    python examples/workers.py

Each request may reach another process, so nothing is kept between requests: `sessions="off"` serves every
message on its own. Clients need no change. Features that need a session are not offered: subscriptions,
change notifications, questions to the client. Questions do work for clients of 2026-07-28, if the workers
share a key: `Server(..., sealing=[key])`.
"""

import os
from pathlib import Path

from assay import Server

server = Server("workers", version="1.0.0")


@server.tool
async def process_id() -> int:
    """The id of the worker process."""
    return os.getpid()


@server.tool
def square(number: int) -> int:
    """The square of a number, computed in a thread."""
    return number * number


app = server.asgi(sessions="off")

if __name__ == "__main__":
    import uvicorn

    uvicorn.run("workers:app", app_dir=str(Path(__file__).parent), port=3000, workers=2)
