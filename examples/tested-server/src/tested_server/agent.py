"""A program that uses the server."""

from assay import Client


async def borrow_all(client: Client, text: str) -> int:
    """Borrow all books with this text in their title, and return how many."""
    titles = await client.call_as(list[str], "find", text=text)
    for title in titles:
        await client.call("lend", title=title)
    return len(titles)
