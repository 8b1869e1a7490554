"""What a server has is asked for under the names that it gave."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

RESOURCE, PROMPT, COMPLETION = "USE-01", "USE-02", "USE-03"
_LISTS: Final = {
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
Json = dict[str, Any]


class Listed:
    """All that the server has listed."""

    def __init__(self, trace: Trace) -> None:
        found = {key: _items(trace, method, key) for method, key in _LISTS.items()}
        self.uris = [one.get("uri") for one in found["resources"]]
        self.templates = [str(one.get("uriTemplate")) for one in found["resourceTemplates"]]
        self.prompts = {str(one.get("name")): one for one in found["prompts"]}

    def has(self, uri: Any) -> bool:
        return uri in self.uris or any(_fits(one, str(uri)) for one in self.templates)

    def arguments(self, reference: Json) -> list[str]:
        """Of what it refers to; none where that was not listed."""
        if reference.get("type") == "ref/prompt":
            return _arguments(self.prompts.get(str(reference.get("name")), {}))
        template = str(reference.get("uri"))
        return re.findall(r"{(\w+)}", template) if template in self.templates else []


@check("What was listed is asked for as it was listed", rows=(RESOURCE, PROMPT, COMPLETION))
def judge(trace: Trace) -> Iterator[Observation]:
    listed = Listed(trace)
    if listed.uris or listed.templates:
        for one in trace.inquiries("resources/read"):
            uri = one.params.get("uri")
            expected = "a URI as it was listed, or by a template"
            yield observe(RESOURCE, listed.has(uri), one, expected=expected, observed=f"{uri!r}")
    if listed.prompts:
        for one in trace.inquiries("prompts/get"):
            yield _prompt(one, listed)
    if listed.prompts and listed.templates:
        for one in trace.inquiries("completion/complete"):
            yield _completion(one, listed)


def _prompt(one: Exchange, listed: Listed) -> Observation:
    prompt = listed.prompts.get(str(one.params.get("name")))
    given = one.params.get("arguments")
    missing = sorted(
        set(_arguments(prompt or {}, required=True)) - set(given if isinstance(given, dict) else ())
    )
    expected = "the name of a prompt as it was listed, and what that requires"
    observed = f"{one.params.get('name')!r} without {missing}" if prompt else f"{one.params.get('name')!r}"
    return observe(PROMPT, prompt is not None and not missing, one, expected=expected, observed=observed)


def _completion(one: Exchange, listed: Listed) -> Observation:
    reference, argument = one.params.get("ref"), one.params.get("argument")
    known = listed.arguments(reference if isinstance(reference, dict) else {})
    name = argument.get("name") if isinstance(argument, dict) else None
    expected, observed = "an argument of something that was listed", f"{name!r} of {reference}"
    return observe(COMPLETION, name in known, one, expected=expected, observed=observed)


def _items(trace: Trace, method: str, key: str) -> list[Json]:
    return [item for page in trace.inquiries(method) for item in page.objects(key)]


def _arguments(prompt: Json, *, required: bool = False) -> list[str]:
    told = prompt.get("arguments")
    found = [one for one in (told if isinstance(told, list) else ()) if isinstance(one, dict)]
    return [str(one.get("name")) for one in found if one.get("required") or not required]


def _fits(template: str, uri: str) -> bool:
    parts = re.split(r"{\w+}", template)
    return re.fullmatch("[^/]+".join(map(re.escape, parts)), uri) is not None
