"""One HTML file with its scripts and styles inside it: hosts load a page without any other file."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from os import PathLike
from pathlib import Path
from typing import Final, NamedTuple

from assay.model.error import RegistrationError

MOST_BYTES: Final = 8 * 1024 * 1024
"""Of the page with everything in it."""
_KEPT: Final = ("type", "media", "nonce", "id")
_END_OF_SCRIPT: Final = re.compile(r"<(?=/script|!--)", re.IGNORECASE)
SCRIPT_LESS: Final = r"\\x3c"
STYLE_LESS: Final = r"\\3c "
_END_OF_STYLE: Final = re.compile(r"<(?=/style)", re.IGNORECASE)


def inline_html(path: str | PathLike[str]) -> str:
    """The text of an HTML file in which each `<script src>` and `<link rel="stylesheet">` with a relative
    path is replaced by the content of that file.

        @server.ui("ui://shop/cart")
        async def cart_page() -> str:
            return inline_html("cart.html")

    The files must be in the folder of the page or below it, also after links are followed. URLs stay as
    they are; their origins belong into `Csp`.

    Raises:
        RegistrationError: a file is missing, outside the folder, not UTF-8, or all are too large.
    """
    page = Path(path)
    try:
        folder = page.resolve(strict=True).parent
        text = _read(page.resolve(), MOST_BYTES)
    except OSError as error:
        raise RegistrationError(f"{page}: {error.strerror or error}") from None
    finder = _References()
    finder.feed(text)
    finder.close()
    pieces, position, size = [], 0, len(text.encode())
    for reference in finder.places_in(text):
        content = _content(folder, reference, page)
        size += len(content.encode())
        if size > MOST_BYTES:
            raise RegistrationError(f"{page}: more than {MOST_BYTES} bytes with its scripts and styles")
        pieces += [text[position : reference.start], content]
        position = reference.end
    return "".join([*pieces, text[position:]])


class _Reference(NamedTuple):
    tag: str
    source: str
    kept: str
    """The attributes that stay, with a space before each."""
    start: int
    end: int


class _References(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._tags: list[tuple[tuple[int, int], str, dict[str, str | None], str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(reversed(attrs))  # of two with the same name, the first counts
        source = attributes.get("src" if tag == "script" else "href")
        is_style = "stylesheet" in (attributes.get("rel") or "").lower().split()
        if source and (tag == "script" or (tag == "link" and is_style)) and _is_relative(source):
            raw = self.get_starttag_text() or ""
            self._tags.append((self.getpos(), tag, attributes | {"src": source}, raw))

    def places_in(self, text: str) -> list[_Reference]:
        """The tags to replace, in order, each with its place in the text."""
        starts = [0]
        for row in text.split("\n"):
            starts.append(starts[-1] + len(row) + 1)
        references = []
        for (line, column), tag, attributes, raw in self._tags:
            start = starts[line - 1] + column
            end = start + len(raw)
            if tag == "script":
                closing = re.compile(r"</script[^>]*>", re.IGNORECASE).search(text, end)
                end = len(text) if closing is None else closing.end()
            kept = "".join(
                f' {name}="{_quoted(value)}"'
                for name in _KEPT
                if (value := attributes.get(name)) is not None and not (tag == "link" and name == "type")
            )
            references.append(_Reference(tag, str(attributes["src"]), kept, start, end))
        return references


def _quoted(value: str) -> str:
    return value.replace("&", "&amp;").replace('"', "&quot;")


def _is_relative(source: str) -> bool:
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|//", source.strip()) is None


def _content(folder: Path, reference: _Reference, page: Path) -> str:
    name = re.split(r"[?#]", reference.source.strip())[0]
    place = f"{page}: {reference.source!r:.120}"
    try:
        file = (folder / name.removeprefix("./")).resolve(strict=True)
        if not file.is_relative_to(folder):
            raise RegistrationError(f"{place} is outside the folder of the page: move it there")
        content = _read(file, MOST_BYTES)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise RegistrationError(f"{place} cannot be read: {reason}") from None
    # Nothing in a file may end its element: `\x3c` and `\3c` are `<` in a string of each language.
    if reference.tag == "script":
        return f"<script{reference.kept}>\n{_END_OF_SCRIPT.sub(SCRIPT_LESS, content)}\n</script>"
    return f"<style{reference.kept}>\n{_END_OF_STYLE.sub(STYLE_LESS, content)}\n</style>"


def _read(file: Path, limit: int) -> str:
    if not file.is_file():
        raise RegistrationError(f"{file} is not a file")
    with file.open("rb") as opened:
        data = opened.read(limit + 1)
    if len(data) > limit:
        raise RegistrationError(f"{file} has more than {limit} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RegistrationError(f"{file} is not UTF-8") from None
