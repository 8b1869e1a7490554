"""Find arguments for the tools of a server, for the file of `--arguments`."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from assay.lab.harness.run.call_remarks import HINT, call_remarks
from assay.lab.harness.run.run import FORMAT, Run, redacted
from assay.lab.harness.run.runner import SubjectDown
from assay.model.version import VERSION

from .error import CannotJudge
from .extra import require_lab
from .options import JudgeOptions
from .server_run import DEFAULTS, ServerConduct
from .subjects import as_target
from .target import Target


class FoundArguments(Struct, frozen=True):
    tools: dict[str, list[dict[str, Any]]]
    """For each tool, the sets of arguments that worked, or else a guess."""
    remarks: list[str]
    """On tools that were not called, are slow, or never succeeded."""


async def find_arguments(target: Target | str, options: JudgeOptions = DEFAULTS) -> FoundArguments:
    """Call the tools that may be called, and return arguments for each tool.

    Raises:
        LabError: the server cannot be reached, or the options cannot be used.
        MissingExtra: a library of the lab is not installed.
    """
    require_lab()
    conduct = ServerConduct(as_target(target), options)
    try:
        subjects = await conduct.discover()
    except SubjectDown as down:
        raise conduct.not_there(down) from down
    run = Run(format=FORMAT, assay=VERSION, started="", seconds=0.0, subjects=subjects, cells=[])
    every = [facts for subject in redacted(run, conduct.redaction).subjects for facts in subject.facts]
    if not every:
        raise CannotJudge("the server supports none of the selected revisions", "leave out --spec-version")
    named = {tool["name"]: (tool, facts) for facts in every for tool in facts.tools if _has_name(tool)}
    sets = {name: facts.argument_sets(tool) for name, (tool, facts) in named.items()}
    return FoundArguments(sets, [remark for remark in call_remarks(run) if remark != HINT])


def _has_name(tool: dict[str, Any]) -> bool:
    return isinstance(tool.get("name"), str)
