"""The steps of a diagnosis, as values."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from assay.model.client_limits import ClientLimits

if TYPE_CHECKING:
    from assay.client.auth.selection import Auth
    from assay.transport.client.proxy import ProxyOption

SECRET_CHARACTERS: Final = 6
"""Shorter values of headers are words that occur anywhere."""
HIDDEN: Final = "(hidden)"


class Status(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


class Step(Struct, frozen=True, omit_defaults=True):
    """One step: what holds or fails, and the setting to change."""

    name: str
    status: Status
    detail: str
    fix: str = ""
    ms: float | None = None
    """How long it took, in milliseconds."""


class Diagnosis(Struct, frozen=True):
    target: str
    steps: list[Step]

    @property
    def ok(self) -> bool:
        """Whether no step failed."""
        return all(step.status is not Status.FAILED for step in self.steps)


class Setup(Struct, frozen=True):
    """How the server is reached; the options of `Client`."""

    headers: Mapping[str, str] | None = None
    tls: ssl.SSLContext | None = None
    revision: str | None = None
    timeout: float = 10.0
    """Seconds for each step."""
    auth: Auth | None = None
    proxy: ProxyOption = None

    @property
    def secrets(self) -> list[str]:
        """What no step may show, also if the server repeats it: people pass on what a diagnosis says."""
        values = [*(self.headers or {}).values(), *([self.auth] if isinstance(self.auth, str) else [])]
        words = [word for value in values for word in (value, value.rpartition(" ")[2])]
        return sorted({word for word in words if len(word) >= SECRET_CHARACTERS}, key=len, reverse=True)

    @property
    def limits(self) -> ClientLimits:
        return ClientLimits(connect_timeout=self.timeout, probe_timeout=self.timeout)


def without_secrets(step: Step, secrets: list[str]) -> Step:
    detail, fix = step.detail, step.fix
    for secret in secrets:
        detail, fix = detail.replace(secret, HIDDEN), fix.replace(secret, HIDDEN)
    return replace(step, detail=detail, fix=fix)


def passed(name: str, detail: str, ms: float | None = None) -> Step:
    return Step(name, Status.OK, detail, "", ms)


def warned(name: str, detail: str, fix: str = "") -> Step:
    return Step(name, Status.WARNING, detail, fix)


def failed(name: str, detail: str, fix: str = "") -> Step:
    return Step(name, Status.FAILED, detail, fix)


def skipped(name: str, detail: str) -> Step:
    return Step(name, Status.SKIPPED, detail)
