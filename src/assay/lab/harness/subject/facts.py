"""What is known of a subject on one transport and revision: declared by it, and listed by it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Facts(Struct):
    revision: str
    capabilities: dict[str, Any] = {}
    server: dict[str, Any] = {}
    """Its name and version, as it gives them."""
    tools: list[dict[str, Any]] = []
    resources: list[dict[str, Any]] = []
    templates: list[dict[str, Any]] = []
    prompts: list[dict[str, Any]] = []
    session: bool = False
    """Whether it gave out a session id."""
    local: bool = False
    """Whether it is reached by a name of this machine."""
    protected: bool = False
    """Whether it lets nobody in without a token."""
    bearers: list[str] = []
    """The kinds of tokens that can be shown to it; see `bearer.py`."""
    certificates: list[str] = []
    """The kinds of certificates that can be shown to it; see `identity.py`."""
    beside: list[str] = []
    """What can be seen of it beside its messages; see `surroundings.py`."""

    def declares(self, *path: str) -> bool:
        """Whether a capability, or a key inside one, is there and not false."""
        at: Any = self.capabilities
        for key in path:
            if not isinstance(at, dict) or at.get(key) in (None, False):
                return False
            at = at[key]
        return True

    @property
    def read_only_tools(self) -> list[dict[str, Any]]:
        """Tools that say themselves that calling them changes nothing."""
        return [tool for tool in self.tools if hints(tool).get("readOnlyHint") is True]


def hints(tool: dict[str, Any]) -> dict[str, Any]:
    annotations = tool.get("annotations")
    return annotations if isinstance(annotations, dict) else {}


class Refusal(Struct):
    """Why a revision is not spoken."""

    revision: str
    reason: str
    unanswered: bool = False
    """Nothing came back at all: the subject is down, or does not speak the protocol."""
