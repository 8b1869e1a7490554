"""Facts about a subject on one transport and revision: what it declares and lists."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from assay.lab.harness.trace.listing import is_declared


class Facts(Struct):
    revision: str
    capabilities: dict[str, Any] = {}
    server: dict[str, Any] = {}
    """The server's `serverInfo`."""
    tools: list[dict[str, Any]] = []
    resources: list[dict[str, Any]] = []
    templates: list[dict[str, Any]] = []
    prompts: list[dict[str, Any]] = []
    cursors: bool = False
    """Whether a list has more than one page."""
    session: bool = False
    """Whether the server assigns a session id."""
    local: bool = False
    """Whether the host name is a loopback name."""
    protected: bool = False
    """Whether the server refuses requests without a token."""
    bearers: list[str] = []
    """Kinds of tokens that the driver has; see `bearer.py`."""
    certificates: list[str] = []
    """Kinds of client certificates that the driver has; see `identity.py`."""
    startable: bool = False
    """Whether the lab can start another process of the server that listens."""
    out_of_band: list[str] = field(default_factory=list, name="beside")
    """Kinds of evidence besides the messages; see `out_of_band.py`."""

    def declares(self, *path: str) -> bool:
        return is_declared(self.capabilities, *path)

    @property
    def read_only_tools(self) -> list[dict[str, Any]]:
        """Tools with `readOnlyHint`."""
        return [tool for tool in self.tools if hints(tool).get("readOnlyHint") is True]


def hints(tool: dict[str, Any]) -> dict[str, Any]:
    annotations = tool.get("annotations")
    return annotations if isinstance(annotations, dict) else {}


class UnsupportedRevision(Struct):
    """Why a subject does not support a revision."""

    revision: str
    reason: str
    unanswered: bool = False
    """There was no answer: the subject is down, or does not implement the protocol."""
