"""A process that serves HTTP: alone, as the parent of several workers, or as one of those."""

from __future__ import annotations

import atexit
import logging
from collections.abc import Callable
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING, Any, Final, cast

from assay.model.visible import visible_record

from .caution import cautions
from .sealer import RandomKeySealer

if TYPE_CHECKING:
    from assay.protocol.http.asgi import Application
    from assay.transport.asgi.build import HttpOptions, RunOptions
    from assay.transport.http1.observer import Observation, Observer
    from assay.transport.workers.worker import Worker

    from .runnable import Runnable

log: Final = logging.getLogger("assay.serve")
log.addFilter(visible_record)

HOST: Final = "127.0.0.1"
PORT: Final = 3000
TLS: Final = ("tls_cert", "tls_key", "tls_client_ca")
STANDARD_OUTPUT: Final = 1
Make = Callable[..., "Application"]


def serve_process(server: Runnable, options: RunOptions, make_app: Make) -> None:
    """
    Raises:
        TypeError, ValueError: an option does not exist, or is invalid.
        CannotListen: the address cannot be used.
        CannotStartWorkers: several workers are impossible here.
        SystemExit: a signal has ended it, or the workers.
    """
    from assay.transport.asgi.build import RunOptions, check_names
    from assay.transport.http1.server import serve_http
    from assay.transport.http1.tls import make_context

    check_names(options, RunOptions)
    host, port = options.pop("host", HOST), check_port(options.pop("port", PORT))
    worker = become_worker(server, host, port, options)
    with nullcontext() if worker is None else closing(worker):
        is_first = worker is None or worker.is_first
        announce = options.pop("announce", None)
        tls = make_context(*(cast("dict[str, Any]", options).pop(name, None) for name in TLS))
        access_log = options.pop("access_log", "off")
        app = make_app(server, **cast("HttpOptions", {"probes": "on", **options}))
        if is_first:
            for line in cautions(server, app.policy, host, 1 if worker is None else worker.count):
                log.warning(line)
        serve_http(
            app,
            host=host,
            port=port,
            limits=server.limits,
            announce=announce if is_first else None,
            tls=tls,
            companion=worker,
            observation=_observation(server, app, access_log, worker),
            budget=server.byte_budget,
            shares=server.time_shares,
        )


def check_port(port: object) -> int:
    if not isinstance(port, int) or isinstance(port, bool):
        raise TypeError(f"port must be a whole number from 0 to 65535: {port!r}")
    if not 0 <= port <= 65535:
        raise ValueError(f"port must be a whole number from 0 to 65535: {port}")
    return port


def become_worker(server: Runnable, host: str, port: int, options: RunOptions) -> Worker | None:
    """With `workers`, this process is one of them, or supervises them until it ends."""
    count, stuck = options.pop("workers", None), options.pop("worker_timeout", None)
    if count is None:
        return None
    from assay.transport.workers.worker import joined

    worker = joined()
    if worker is None:
        from assay.transport.workers.parent import run_workers

        raise SystemExit(run_workers(count, host=host, port=port, stuck=stuck))
    if isinstance(server.sealer, RandomKeySealer):
        server.sealer.share(worker.key)
    if server.store is None:
        server.use_store(worker.store)
    return worker


def _observation(
    server: Runnable, app: Application, access_log: object, worker: Worker | None
) -> Observation | None:
    """What observes the HTTP server: the access log, and middleware that asks for it."""
    from assay.transport.http1.access_log import FORMATS, AccessLog

    if access_log not in ("off", *FORMATS):
        raise ValueError(f'access_log must be "off", "text" or "json": {access_log!r}')
    measures: list[Any] = [each for each in server.middlewares if hasattr(each, "measure")]
    observers: list[Observer] = [each.observe for each in measures]
    if access_log != "off":
        lines = AccessLog(str(access_log), STANDARD_OUTPUT, app.policy.trusted_proxies, log.warning)
        atexit.register(lines.close)
        observers.append(lines.observe)
    if not observers:
        return None
    from assay.transport.http1.observer import Observation

    observation = Observation(*observers)
    for each in measures:
        each.connections = lambda: observation.connections
        if worker is not None:
            worker.measure, each.totals = each.measure, worker.totals
    return observation
