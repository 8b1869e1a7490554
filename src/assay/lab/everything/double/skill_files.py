"""The skills that the double serves, as files, and what is listed of them."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

from assay.lab.harness.sabotage.saboteur import Json

MARKDOWN: Final = "text/markdown"
DIRECTORY: Final = "inode/directory"


def _manifest(fields: Json) -> str:
    lines = "\n".join(f"{key}: {value}" for key, value in fields.items())
    return f"---\n{lines}\n---\n\nRead `references/` first.\n"


_PDF: Final = {"name": "pdf-tools", "description": "Fill in forms", "license": "Apache-2.0", "stars": 5}
_REFUNDS: Final = {"name": "refunds", "description": "Pay money back"}
_DAILY: Final = {"name": "daily", "description": "What happened today"}
FIELDS: Final[dict[str, Json]] = {
    "skill://pdf-tools/SKILL.md": _PDF,
    "skill://acme/refunds/SKILL.md": _REFUNDS,
    "skill://reports/daily/SKILL.md": _DAILY,
}
"""Of each skill, by the URI of its manifest."""
FILES: Final[dict[str, str]] = {
    **{uri: _manifest(fields) for uri, fields in FIELDS.items()},
    "skill://pdf-tools/notes.md": "# Notes\n",
    "skill://pdf-tools/references/forms.md": "# Forms\n",
}
_DYNAMIC: Final = "skill://reports/daily/SKILL.md"


def entry(uri: str) -> Json:
    return {"uri": uri, "frontmatter": FIELDS[uri], "resources": _listed(uri)}


def _listed(uri: str) -> Any:
    home = uri.removesuffix("SKILL.md")
    mine = {name: text.encode() for name, text in FILES.items() if name.startswith(home)}
    files = [{"uri": name, "digest": _digest(data), "size": len(data)} for name, data in mine.items()]
    return "dynamic" if uri == _DYNAMIC else files


def _digest(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


def resource(uri: str) -> Json:
    """A manifest, as `resources/list` has it."""
    fields = FIELDS[uri]
    told = {"uri": uri, "name": fields["name"], "description": fields["description"], "mimeType": MARKDOWN}
    return {**told, "_meta": {"io.modelcontextprotocol.skills/license": fields.get("license", "none")}}


def children(directory: str) -> list[Json] | None:
    """What is directly in a directory; none where there is no such directory."""
    below = [uri.removeprefix(f"{directory}/") for uri in FILES if uri.startswith(f"{directory}/")]
    names = dict.fromkeys(path.partition("/")[0] for path in below)
    return [_child(f"{directory}/{name}", name) for name in names] or None


def _child(uri: str, name: str) -> Json:
    return {"uri": uri, "name": name, "mimeType": MARKDOWN if uri in FILES else DIRECTORY}
