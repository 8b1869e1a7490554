"""Tools describe themselves, and servers name their version."""

from collections.abc import Iterator
from typing import cast

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    observe,
    on_result,
    scenario,
)
from assay.lab.harness.need import A_TOOL, declares

# --- what is asked


@scenario(
    "List the tools",
    exercises=("descriptions.tools", "descriptions.version"),
    needs=(declares("tools"), A_TOOL),
)
async def drive_tools(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")


# --- how it is judged


@check("Every tool has a description", requirements=("HOUSE-01",))
def judge_tools(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("tools/list"):
        for tool in exchange.objects("tools"):
            text = tool.get("description")
            described = isinstance(text, str) and bool(text.strip())
            observed = f"the tool {tool.get('name')!r} has the description {text!r}"
            yield observe("HOUSE-01", described, exchange, expected="a description", observed=observed)


@check("The server names its version", requirements=("HOUSE-02",))
def judge_version(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("initialize"):
        server: object = (exchange.result or {}).get("serverInfo")
        if isinstance(server, dict):
            version = cast(Json, server).get("version")
            yield observe("HOUSE-02", bool(version), exchange, expected="a version", observed=f"{version!r}")


# --- what the checks must catch


@on_result("a tool has no description", breaks="HOUSE-01", method="tools/list")
def undescribed(result: Json, context: FaultContext) -> None:
    result["tools"][0].pop("description", None)


@on_result("the version is empty", breaks="HOUSE-02", method="initialize")
def no_version(result: Json, context: FaultContext) -> None:
    result["serverInfo"]["version"] = ""
