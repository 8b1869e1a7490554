"""Install the wheel and `examples/tested-server` in an empty environment, and run the tests of the example.

  make tested

Then the example is broken on purpose, and the failures must name what is wrong. Without the extra `lab`, all
but the conformance tests run, and these name the extra.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from scripts.package import LIMIT, NAME, PIP, ROOT, PackageFailed, build, call, environment

EXAMPLE = ROOT / "examples" / "tested-server"
SERVER = Path("src/tested_server/server.py")
COUNTS = re.compile(r"\d+ (?:passed|failed|skipped|errors?)")
ENVIRONMENT = {**os.environ, "CI": "true"}
"""In CI a missing snapshot is a failure."""
MISSING = "ERROR collecting tests/test_conformance.py", 'pip install "assay-mcp[lab]"'

MASKED_ERRORS = """
    from assay import MiddlewareCall, Next, RpcError

    @server.middleware
    async def mask(call: MiddlewareCall, next: Next[object]) -> object:
        try:
            return await next(call)
        except RpcError as error:
            raise RpcError(-32600, "something went wrong") from error

    return server
"""


@dataclass(frozen=True)
class Fault:
    """A change of the server that its tests must notice."""

    about: str
    old: str
    new: str
    tests: tuple[str, ...]
    texts: tuple[str, ...]
    """What the output must have."""


FAULTS = (
    Fault(
        "a changed description",
        "Find books by a part of their title.",
        "Find books.",
        ("tests/test_lists.py",),
        (
            "  changed  tool find: description",
            '-      "description": "Find books by a part of their title.",',
            '+      "description": "Find books.",',
            "if this is intended: pytest --assay-update-snapshots",
        ),
    ),
    Fault(
        "another question",
        "Who borrows {title}?",
        "Your name?",
        ("tests/test_agent.py",),
        ("the server did not ask for elicitation with 'Who borrows Emma?'", "  elicitation: Your name?"),
    ),
    Fault(
        "errors with the wrong code",
        "    return server\n",
        MASKED_ERRORS,
        ("tests/test_conformance.py", "-k", "unknown-method"),
        (
            "test_conformance[jsonrpc.unknown-method]",
            "FAILURE jsonrpc.unknown-method: An unknown method was not refused with -32601",
            "  expected  error -32601",
            "  observed  error -32600: something went wrong",
        ),
    ),
)


def main() -> int:
    try:
        with TemporaryDirectory(prefix="assay-tested-", ignore_cleanup_errors=True) as folder:
            run(Path(folder))
    except (PackageFailed, subprocess.TimeoutExpired) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def run(folder: Path) -> None:
    wheel, _ = build(folder)
    project = folder / "tested-server"
    shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    own = f"{NAME} @ {wheel.as_uri()}"
    python = environment(folder / "env", own, "pytest", "pytest-asyncio")
    install(folder / "env", "--editable", str(project))
    expect(python, project, "without the extra lab", MISSING, code=2)
    expect(python, project, "the others", (), "--ignore=tests/test_conformance.py")
    install(folder / "env", f"{NAME}[lab] @ {wheel.as_uri()}")
    expect(python, project, "the whole example", ())
    for fault in FAULTS:
        with broken(project / SERVER, fault):
            expect(python, project, f"with {fault.about}", fault.texts, *fault.tests, code=1)


@contextmanager
def broken(path: Path, fault: Fault) -> Iterator[None]:
    """The server with a fault, for the time of a block."""
    text = path.read_text("utf-8")
    if text.count(fault.old) != 1:
        raise PackageFailed(f"{fault.about}: {path.name} does not have {fault.old!r} once")
    path.write_text(text.replace(fault.old, fault.new), "utf-8")
    try:
        yield
    finally:
        path.write_text(text, "utf-8")


def install(folder: Path, *requirements: str) -> None:
    pins = ("--constraint", str(ROOT / "constraints.txt"))
    call([*PIP, "--python", str(folder), "install", "--quiet", *pins, *requirements])


def expect(
    python: str, project: Path, about: str, texts: tuple[str, ...], *arguments: str, code: int = 0
) -> None:
    begin = time.monotonic()
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    outcome = subprocess.run(
        command, cwd=project, capture_output=True, text=True, check=False, timeout=LIMIT, env=ENVIRONMENT
    )
    output = outcome.stdout + outcome.stderr
    absent = [text for text in texts if text not in output]
    if outcome.returncode != code or absent or "snapshot written" in output:
        expected = f"expected {code}, with {', '.join(map(repr, absent)) or 'all texts'}"
        raise PackageFailed(f"{about}: pytest ended with {outcome.returncode}, {expected}\n{output[-4000:]}")
    counts = ", ".join(COUNTS.findall(output.splitlines()[-1]))
    print(f"{about}: {counts} ({time.monotonic() - begin:.0f} s)", flush=True)


if __name__ == "__main__":
    sys.exit(main())
