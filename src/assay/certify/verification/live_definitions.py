"""Compare what a server lists today with what it listed when its bundle was made.

A tool whose description or schema changes after a review is another tool. `_meta` may change from call to
call, so it is not compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay.certify.registry.build import observe
from assay.certify.registry.registration import plain_subjects
from assay.certify.subjects import as_targets, endpoint
from assay.lab.access import Credentials
from assay.lab.error import CannotJudge, SubjectNotStarted
from assay.lab.harness.links.broken_off import BrokenOff, Unreachable
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.run.run import Run
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.subject import Subject
from assay.lab.options import Access

from .refusal import Refusal, RefusalReason

KINDS: Final = {"tools": "name", "prompts": "name", "resources": "uri", "templates": "uriTemplate"}
"""The lists of a server, and the field that identifies an entry."""
IGNORED: Final = frozenset({"_meta", "size"})
"""What may change with the data, not with the definition; also `annotations.lastModified`."""
Item = dict[str, Any]


async def changed_definitions(run: Run, target: str, access: Access, timeout: float) -> list[Refusal]:
    """How the live server differs from the one that was judged.

    Raises:
        LabError: the server cannot be reached, or speaks no revision of the bundle.
    """
    [known] = as_targets(target)
    credentials = Credentials(access, endpoint([known]))
    await credentials.fetch_tokens()
    subject = plain_subjects(known, credentials)[0]
    live = await _facts(subject, credentials, timeout)
    return [*_compare(run, live)]


async def _facts(subject: Subject, credentials: Credentials, timeout: float) -> dict[str, Facts]:
    """The facts about the live server, by revision."""
    conditions = Conditions(patience=timeout, redaction=credentials.redaction, tokens=credentials.tokens)
    try:
        await subject.start()
        server = await observe(subject, conditions)
    except Unreachable as error:
        raise SubjectNotStarted(f"cannot reach {subject.name}: {error}", "is it running?") from error
    except BrokenOff as error:
        raise CannotJudge(f"{subject.name} cannot be compared: {error}") from error
    finally:
        await subject.stop()
    if not server.known:
        raise CannotJudge(f"{subject.name} speaks no revision of MCP: {'; '.join(server.refused)}")
    return {revision.date: facts for revision, facts in server.known.items()}


def _compare(run: Run, live: Mapping[str, Facts]) -> Iterator[Refusal]:
    judged = {facts.revision: facts for record in run.subjects for facts in record.facts}
    common = sorted(judged.keys() & live.keys())
    if not common:
        raise CannotJudge(f"the live server speaks {', '.join(live)}, the judged one {', '.join(judged)}")
    before, today = judged[common[-1]], live[common[-1]]
    for kind, key in KINDS.items():
        yield from definition_changes(kind, key, getattr(before, kind), getattr(today, kind))


def definition_changes(kind: str, key: str, before: list[Item], today: list[Item]) -> Iterator[Refusal]:
    """What was removed, added or changed in one list."""
    old, new = ({str(item.get(key)): item for item in items} for items in (before, today))
    noun = kind.removesuffix("s")
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            yield _changed(f"the {noun} {name} was removed")
        elif name not in old:
            yield _changed(f"the {noun} {name} was added")
        else:
            fields = sorted(
                field
                for field in (old[name].keys() | new[name].keys()) - IGNORED
                if _lasting(old[name].get(field)) != _lasting(new[name].get(field))
            )
            yield from (_changed(_described(noun, name, field, old[name], new[name])) for field in fields)


def _lasting(value: Any) -> Any:
    """A field without the date of the last change, which annotations of resources have."""
    if not isinstance(value, dict):
        return value
    return {key: part for key, part in value.items() if key != "lastModified"} or None


def _described(noun: str, name: str, field: str, old: Item, new: Item) -> str:
    if isinstance(old.get(field), str | None) and isinstance(new.get(field), str | None):
        return f"the {field} of the {noun} {name} was {old.get(field)!r:.80}, now {new.get(field)!r:.80}"
    return f"the {field} of the {noun} {name} changed"


def _changed(detail: str) -> Refusal:
    return Refusal(RefusalReason.CHANGED_DEFINITION, "the live server", detail)
