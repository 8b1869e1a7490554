"""Templates that match the same URIs are not registered twice."""

from __future__ import annotations

from typing import Any

import pytest

from assay import RegistrationError, Server
from assay.protocol.uri_template import UriTemplate
from assay.server.components.template_shape import template_shape

SAME = [
    ("a://{x}", "a://{y}"),
    ("a://{x}/{y}", "a://{y}/{x}"),
    ("a://{+x}", "a://{+longer.name}"),
    ("a://{/x*}", "a://{/y*}"),
    ("a://{x:3}", "a://{y:3}"),
    ("a://b{?p,q}", "a://b{?q,p}"),
    ("a://b{?p,q}", "a://b{?p}{&q}"),
    ("a://b{?p,q,r}", "a://b{?r}{&p}{&q}"),
    ("a://{x}{?p}", "a://{y}{?p}"),
]
DIFFERENT = [
    ("a://{x}", "a://{+x}"),
    ("a://{x}", "a://{x}/b"),
    ("a://{x}", "a://{x,y}"),
    ("a://{x}", "a://{x*}"),
    ("a://{x:3}", "a://{x:4}"),
    ("a://b{?p}", "a://b{?q}"),
    ("a://b{?p}", "a://b{&p}"),
    ("a://{x}", "b://{x}"),
]


def handler(template: str) -> Any:
    """A function with a parameter for each variable."""
    names = UriTemplate(template).variables
    scope: dict[str, Any] = {}
    exec(f"def read({', '.join(f'{name}=None' for name in names)}): return 'a'", scope)
    return scope["read"]


@pytest.mark.parametrize(("first", "second"), [pair for pair in SAME if "." not in pair[1]])
def test_equal_template_is_refused(first: str, second: str) -> None:
    server = Server("test")
    server.resources.add(first, handler(first))
    with pytest.raises(RegistrationError) as error:
        server.resources.add(second, handler(second))
    assert str(error.value).startswith(f"resource {second}: {first} matches the same URIs")
    assert len(server.resources) == 1


@pytest.mark.parametrize(("first", "second"), SAME)
def test_equal_templates_have_the_same_shape(first: str, second: str) -> None:
    assert template_shape(first) == template_shape(second)


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_templates_that_differ_are_both_served(first: str, second: str) -> None:
    server = Server("test")
    for template in (first, second):
        server.resources.add(template, handler(template))
    assert len(server.resources) == 2


def test_removed_template_makes_room_for_its_equal() -> None:
    server = Server("test")
    server.resources.add("a://{x}", handler("a://{x}"))
    server.resources.remove("a://{x}")
    server.resources.add("a://{y}", handler("a://{y}"))
    assert [template.uri_template for template in server.resources.templates()] == ["a://{y}"]


def test_shape_takes_linear_time() -> None:
    template = "a://b" + "{?p" + "".join(f"}}{{&q{number}" for number in range(2000)) + "}"
    assert template_shape(template).count(",") == 2000
