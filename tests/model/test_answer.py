"""Answers of clients to questions."""

from __future__ import annotations

from typing import Any

import pytest

from assay import AskError, Elicited, Image, Sampled, Text
from assay.model.answer import ToolUse


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (Text("one"), "one"),
        ([Text("one "), ToolUse("1", "add", {}), Text("two")], "one two"),
        (Image(b"", "image/png"), ""),
        ([], ""),
    ],
)
def test_text_of_a_sample_is_all_its_text(content: Any, text: str) -> None:
    assert Sampled("assistant", content, "model").text == text


@pytest.mark.parametrize(("action", "accepted"), [("accept", True), ("decline", False), ("cancel", False)])
def test_only_accept_is_accepted(action: Any, accepted: bool) -> None:
    assert Elicited(action).accepted is accepted


def test_data_is_the_answer_of_a_user_who_accepted() -> None:
    assert Elicited("accept", "Ada").data == "Ada"
    assert Elicited("accept", False).data is False


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_data_of_a_user_who_did_not_accept_is_an_error(action: Any) -> None:
    with pytest.raises(AskError, match=f"did not answer: {action}"):
        Elicited(action).data  # noqa: B018 - the property raises
