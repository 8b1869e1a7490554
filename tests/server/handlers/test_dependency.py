"""Mistakes with `Depends` are refused at registration, with the function, the parameter and the fix."""

from collections.abc import AsyncIterator
from typing import Annotated, Any

import pytest

from assay import Depends, RegistrationError, Server


async def get_text() -> str:
    return "text"


async def get_texts() -> AsyncIterator[str]:
    yield "text"


async def needs_argument(url: str) -> str:
    return url


async def positional(url: str, /) -> str:
    return url


async def nested(text: Annotated[str, Depends(needs_argument)]) -> str:
    return text


async def chicken(egg: Annotated[str, Depends(lambda: "")]) -> str:
    return egg


async def egg(chicken: Annotated[str, Depends(chicken)]) -> str:
    return chicken


async def unresolved(text: "Annotated[str, Depends(NoSuchName)]") -> str:  # type: ignore[name-defined]  # noqa: F821
    return text


chicken.__annotations__["egg"] = Annotated[str, Depends(egg)]


def needs(dependency: Any) -> None:
    async def handler(text: Annotated[str, dependency]) -> str:
        return text

    handler.__annotations__["text"] = Annotated[str, dependency]
    Server("test").tool(handler)


async def with_default(text: Annotated[str, Depends(get_text)] = Depends(get_text)) -> str:
    return text


async def without_class(text=Depends()) -> str:  # type: ignore[no-untyped-def]  # noqa: B008
    return str(text)


@pytest.mark.parametrize(
    ("dependency", "message"),
    [
        (
            Depends(needs_argument),
            "handler: dependency needs_argument: parameter url cannot be filled in: give it a default or "
            "Depends, or annotate it with Context",
        ),
        (Depends(nested), "handler: dependency needs_argument: parameter url cannot be filled in"),
        (Depends(positional), "parameter url is positional-only: remove the slash"),
        (Depends(chicken), "handler: its dependencies go in a circle: chicken needs egg needs chicken"),
        (Depends(unresolved), "handler: dependency unresolved: an annotation cannot be resolved"),
        (Depends, r"handler: parameter text: write Depends\(function\) instead of Depends"),
    ],
)
def test_handler_is_refused(dependency: Any, message: str) -> None:
    with pytest.raises(RegistrationError, match=message):
        needs(dependency)


@pytest.mark.parametrize(
    ("handler", "message"),
    [
        (with_default, "with_default: parameter text has 2 Depends: keep one of them"),
        (without_class, r"parameter text: Depends\(\) needs a function, or a class as annotation"),
    ],
)
def test_mark_is_refused(handler: Any, message: str) -> None:
    with pytest.raises(RegistrationError, match=message):
        Server("test").tool(handler)


@pytest.mark.parametrize("make", [get_text, get_texts])
def test_called_function_is_refused(make: Any) -> None:
    with pytest.raises(
        RegistrationError, match=rf"what {make.__name__}\(\) returned: pass the function itself"
    ):
        Depends(make())


def test_value_is_refused() -> None:
    with pytest.raises(RegistrationError, match="Depends takes a function, not a str"):
        Depends("text")  # type: ignore[call-overload]
