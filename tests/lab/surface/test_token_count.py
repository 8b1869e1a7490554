"""Tokens: the estimate is near what the installed tokenizer counts."""

from __future__ import annotations

import pytest

from assay.lab.surface.token_count import EXACT, estimated, tokenizer

SAMPLES = {
    "a short tool": (
        '{"name":"add","description":"Add two numbers.","input_schema":{"type":"object",'
        '"properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}}'
    ),
    "prose": (
        "Search the catalogue for books whose title, author or subject contains the words. The results are "
        "ordered by relevance, at most fifty of them; use the cursor of a result to get more."
    ),
    "identifiers": (
        '{"name":"GOOGLESHEETS_VALUES_BATCH_CLEAR","input_schema":{"properties":{"spreadsheetId":'
        '{"type":"string"},"dataFilterIds":{"type":"array","items":{"type":"string"}}}}}'
    ),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_estimate_is_near_what_the_tokenizer_counts(name: str) -> None:
    counter = tokenizer()

    assert counter.is_exact
    assert counter.name == EXACT
    assert estimated(SAMPLES[name]) == pytest.approx(counter.count(SAMPLES[name]), rel=0.25)


def test_without_the_extra_tokens_are_estimated_and_the_name_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.lab.surface.token_count.find_spec", lambda name: None)

    assert not tokenizer().is_exact
    assert "estimate" in tokenizer().name


def test_any_text_has_a_cost() -> None:
    assert estimated("") == 0
    assert estimated("日本語") >= 2
    assert estimated("\n\n  \t") >= 1
