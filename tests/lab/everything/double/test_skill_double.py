"""The double of the skills extension: pages, entries, files and directories."""

from typing import Any

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.everything.fixture import UNDECLARED
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, LocalAnswer
from assay.lab.harness.transport import Transport
from assay.revisions.registry import PER_REQUEST
from tests.lab.traces import request

HOME = "skill://pdf-tools"


def answer(method: str, **params: Any) -> Json:
    answered = DOUBLE.request(
        request(1, method, _meta=UNDECLARED, **params), FaultContext(Transport.STDIO, PER_REQUEST[-1])
    )
    assert isinstance(answered, LocalAnswer)
    (message,) = answered.messages
    return dict(message)


def test_lists_have_pages_and_an_end() -> None:
    first = answer("skills/list")["result"]
    last = answer("skills/list", cursor=first["nextCursor"])["result"]
    assert (len(first["skills"]), len(last["skills"]), "nextCursor" in last) == (2, 1, False)
    assert answer("skills/list", cursor="99")["error"]["code"] == -32602


def test_an_entry_is_the_same_alone_and_in_the_list() -> None:
    (listed, *_) = answer("skills/list")["result"]["skills"]
    assert answer("skills/get", uri=listed["uri"])["result"]["skill"] == listed
    assert answer("skills/get", uri="skill://none/SKILL.md")["error"]["code"] == -32602


def test_a_directory_has_files_and_directories_and_a_file_has_none() -> None:
    first = answer("resources/directory/read", uri=HOME)["result"]
    last = answer("resources/directory/read", uri=HOME, cursor=first["nextCursor"])["result"]
    kinds = {one["name"]: one["mimeType"] for one in first["resources"] + last["resources"]}
    assert kinds == {
        "SKILL.md": "text/markdown",
        "notes.md": "text/markdown",
        "references": "inode/directory",
    }
    assert answer("resources/directory/read", uri=f"{HOME}/SKILL.md")["error"]["code"] == -32602


def test_other_resources_are_left_to_the_server() -> None:
    asked = request(1, "resources/read", uri="test://static-text", _meta=UNDECLARED)
    assert DOUBLE.request(asked, FaultContext(Transport.STDIO, PER_REQUEST[-1])) is asked
