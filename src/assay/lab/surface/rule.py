"""The rules of the lint, each with its reason and fix. They are advice, not requirements of the
specification."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from msgspec import Struct


class Severity(StrEnum):
    ERROR = "error"
    """A host is known to refuse the item, or the whole list."""
    WARNING = "warning"
    """A host drops it, or a model is misled."""
    NOTE = "note"


class Rule(Struct, frozen=True):
    id: str
    severity: Severity
    title: str
    reason: str
    fix: str


class Problem(Struct, frozen=True):
    rule: str
    severity: Severity
    item: str
    """`tool NAME`, `prompt NAME`, `resource URI`, or `server`."""
    message: str
    fix: str
    place: str = ""
    """JSON Pointer inside of the definition."""


_ISSUES: Final = "https://github.com"
_ROWS: Final = (
    (
        "schema-top-level",
        Severity.ERROR,
        "A combination of schemas at the top of `inputSchema`",
        "The APIs of Anthropic and OpenAI refuse `oneOf`, `anyOf` and `allOf` there, and with them the whole "
        f"request ({_ISSUES}/makenotion/notion-mcp-server/issues/340, "
        f"{_ISSUES}/anthropics/claude-code/issues/657).",
        "Put the alternatives into a property, or describe which parameters exclude each other.",
    ),
    (
        "schema-not-object",
        Severity.ERROR,
        "A schema whose type is not `object`",
        "Arguments are an object, and the TypeScript SDK refuses a whole list with another `outputSchema` "
        f"({_ISSUES}/opentokenz/mcpx/issues/28).",
        'Write `"type": "object"` at the top of the schema.',
    ),
    (
        "schema-reference",
        Severity.WARNING,
        "`$ref` in `inputSchema`",
        "Gemini refuses some references, and several hosts drop `$defs` or do not resolve them "
        f"({_ISSUES}/google-gemini/gemini-cli/issues/13326, {_ISSUES}/anomalyco/opencode/issues/12295).",
        "Write the definition where it is used, or use plain parameters.",
    ),
    (
        "schema-broken-reference",
        Severity.ERROR,
        "`$ref` that leads nowhere",
        "Hosts that resolve references fail, and models see a parameter without a type.",
        "Correct the name, or add the definition to `$defs`.",
    ),
    (
        "schema-external-reference",
        Severity.ERROR,
        "`$ref` to another document",
        "Hosts do not fetch schemas: it would let a server make them request any address.",
        "Put the definition into `$defs` of the same schema.",
    ),
    (
        "schema-recursive",
        Severity.WARNING,
        "A schema that contains itself",
        "Hosts that write references out cannot: they cut the schema or refuse the tool.",
        "Limit the depth by naming each level, or take the nested value as text.",
    ),
    (
        "schema-array-items",
        Severity.WARNING,
        "An array without `items`",
        "Gemini and OpenAI refuse arrays without a type for their members "
        f"({_ISSUES}/DEEIX-AI/DEEIX-Chat/issues/546).",
        "State the members with `items`.",
    ),
    (
        "schema-unused-definition",
        Severity.WARNING,
        "A definition that nothing uses",
        "It costs tokens in every request of the host.",
        "Remove it from `$defs`.",
    ),
    (
        "schema-property-name",
        Severity.ERROR,
        "A parameter name that hosts refuse",
        "Anthropic's API takes letters, digits, `_`, `.` and `-`, at most 64 of them.",
        "Rename the parameter.",
    ),
    (
        "name-characters",
        Severity.ERROR,
        "A tool name that hosts refuse",
        "Model APIs take letters, digits, `_` and `-`, at most 64 of them; longer ones are refused "
        f"({_ISSUES}/microsoft/vscode/issues/243602).",
        "Rename the tool with letters, digits, `_` and `-`.",
    ),
    (
        "name-length",
        Severity.WARNING,
        "A tool name that is too long together with the name of its server",
        "Cursor drops tools whose server and tool names have more than 60 characters together "
        f"({_ISSUES}/ComposioHQ/composio/issues/2788).",
        "Shorten the name of the tool or of the server.",
    ),
    (
        "name-duplicate",
        Severity.ERROR,
        "Two items with the same name",
        "Hosts keep one of them, and nothing says which.",
        "Rename one of them.",
    ),
    (
        "name-similar",
        Severity.WARNING,
        "Names that are easily confused",
        "Models call the wrong one of two tools whose names differ in a letter or a separator.",
        "Say in the name what distinguishes them.",
    ),
    (
        "description-missing",
        Severity.WARNING,
        "No description",
        "The description is what a model chooses by.",
        "Say in a sentence what it does and when to use it; a docstring is enough.",
    ),
    (
        "description-duplicate",
        Severity.WARNING,
        "Two items with the same description",
        "A model cannot tell them apart.",
        "Say in each what distinguishes it.",
    ),
    (
        "description-parameter",
        Severity.NOTE,
        "A parameter without a description",
        "Models guess formats and units that nothing states.",
        "Describe the parameter: format, unit, an example.",
    ),
    (
        "description-long",
        Severity.WARNING,
        "A very long description",
        "Claude Code cuts descriptions after 2048 characters, and every request pays for them "
        f"({_ISSUES}/anthropics/claude-code/issues/41593).",
        "Keep the first sentences, and move the rest to a resource or a prompt.",
    ),
    (
        "description-hidden",
        Severity.ERROR,
        "Characters in a text that people do not see",
        "Invisible and bidirectional characters hide instructions from who approves a tool.",
        "Remove them.",
    ),
    (
        "annotation-contradiction",
        Severity.WARNING,
        "Annotations that contradict the name, or each other",
        "Hosts ask for consent, or not, by these hints.",
        "Correct the hint, or the name.",
    ),
    (
        "annotation-missing",
        Severity.NOTE,
        "No hint whether the tool only reads",
        "Without `readOnlyHint` hosts treat a tool as one that may destroy, and ask each time.",
        "Set `readOnlyHint`, and for others `destructiveHint`.",
    ),
    (
        "output-schema-missing",
        Severity.NOTE,
        "No output schema",
        "Programs cannot rely on the form of the result.",
        "Declare `outputSchema`; in Python, annotate the return type.",
    ),
    (
        "tokens-tool",
        Severity.WARNING,
        "A tool whose definition is expensive",
        "Every request of the host carries it.",
        "Shorten descriptions, and drop parameters and enumerations that are seldom used.",
    ),
    (
        "tokens-total",
        Severity.WARNING,
        "Definitions that are expensive together",
        "They take their share of every request, and models choose worse among many tools.",
        "Offer fewer tools, or several servers for different jobs.",
    ),
    (
        "tools-count",
        Severity.WARNING,
        "More tools than some hosts take",
        "Model APIs take 128 tools in a request, of all servers together.",
        "Offer fewer tools, or several servers for different jobs.",
    ),
)
RULES: Final[Mapping[str, Rule]] = MappingProxyType({row[0]: Rule(*row) for row in _ROWS})


def problem(rule: str, item: str, message: str, place: str = "") -> Problem:
    known = RULES[rule]
    return Problem(rule, known.severity, item, message, known.fix, place)
