"""Calls of tools, and answers to what they ask."""

import pytest

from assay import Client, SyncClient, ToolFailed
from assay.testing import Answers


async def test_books_are_found_by_a_part_of_their_title(assay_client: Client) -> None:
    assert await assay_client.call_as(list[str], "find", text="emm") == ["Emma"]


async def test_a_reader_is_asked_for_the_name(assay_client: Client, assay_answers: Answers) -> None:
    assay_answers.elicit({"name": "Ada"})
    assert (await assay_client.call("lend", title="Emma")).text == "Emma was lent to Ada."


async def test_a_reader_may_decline(assay_client: Client, assay_answers: Answers) -> None:
    assay_answers.elicit(None)
    assert (await assay_client.call("lend", title="Emma")).text == "Nothing was lent."


async def test_a_book_is_lent_once(assay_client: Client, assay_answers: Answers) -> None:
    assay_answers.elicit({"name": "Ada"})
    await assay_client.call("lend", title="Emma")
    with pytest.raises(ToolFailed, match="Emma is not there"):
        await assay_client.call("lend", title="Emma")


def test_the_model_of_the_client_describes_a_book(
    assay_sync_client: SyncClient, assay_answers: Answers
) -> None:
    assay_answers.sample(lambda request: f"{request.max_tokens} words on love.")
    assert assay_sync_client.call("blurb", title="Emma").text == "100 words on love."


def test_prompts_and_resources(assay_sync_client: SyncClient) -> None:
    assert "Persuasion" in str(assay_sync_client.read("library://books")[0].text)
    assert len(assay_sync_client.prompt("recommend", mood="glad").messages) == 1
