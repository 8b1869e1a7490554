"""Digests are not those of the files."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a digest is that of something else", breaks="sep-2640-resources-digest-format", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/list" and "result" in reply:
        for skill in reply["result"]["skills"]:
            for file in skill["resources"] if skill["resources"] != "dynamic" else ():
                file["digest"] = "sha256:" + "0" * 64
    return reply
