"""Headers of a parameter: encoded, encoded badly, plain though it looks encoded, different, missing."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.everything.declaring import official_scenario
from assay.lab.harness.driver.argument import arguments_for, value_for
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import Need
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.annotation import Annotation, usable

GIVEN: Final = (
    ("Hello", "Hello"),
    ("Hello", "=?base64?SGVsbG8=?="),
    ("SGVsbG8=", "SGVsbG8="),
    ("=?base64?SGVsbG8=", "=?base64?SGVsbG8="),
    ("Hello", "=?base64?SGVsbG8?="),
    ("Hello", "=?base64?SGVs!!!bG8=?="),
    ("Hello", "=?base64?SGVsbG9v?="),
    ("Hello", "of-another-kind"),
    ("test-value", None),
)
"""The argument of each call, and what its header says."""


def marked_text(tool: dict[str, Any]) -> list[Annotation]:
    return [one for one in usable(tool) if "string" in one.types]


A_TEXT_IN_A_HEADER: Final = Need(
    lambda facts: any(marked_text(tool) for tool in facts.tools),
    "has no tool with a text that is repeated in a header",
)


@official_scenario(
    "http-custom-header-server-validation",
    "Headers of parameters must repeat the arguments",
    needs=(A_TEXT_IN_A_HEADER,),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
    tool, marked = _chosen(stage.facts)
    others = {one.path[0]: value_for(one.schema) for one in usable(tool)}
    for argument, given in GIVEN:
        arguments = {**arguments_for(tool), **others, marked.path[0]: argument}
        await peer.call(tool, arguments, headers={marked.header: given})


def _chosen(facts: Facts) -> tuple[dict[str, Any], Annotation]:
    return next((tool, marked) for tool in facts.tools for marked in marked_text(tool))
