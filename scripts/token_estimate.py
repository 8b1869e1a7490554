"""Compare the estimate of tokens with o200k_base, on the tools in the stored traces of public servers.

python -m scripts.token_estimate
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from assay.lab.harness.trace.file import read_trace
from assay.lab.surface.token_count import as_sent, estimated, tokenizer

TRACES: Final = Path("interop/public/traces")


def tools() -> dict[tuple[str, str], dict[str, Any]]:
    """Each tool once, by its server and name."""
    known_tools: dict[tuple[str, str], dict[str, Any]] = {}
    for file in sorted(TRACES.rglob("*.ndjson")):
        server = file.relative_to(TRACES).parts[0]
        for exchange in read_trace(file).exchanges("tools/list"):
            for tool in exchange.objects("tools"):
                known_tools.setdefault((server, str(tool.get("name"))), tool)
    return known_tools


def main() -> None:
    counter = tokenizer()
    assert counter.is_exact, "install the extra `lint`"
    known = tools()
    texts = [as_sent(tool) for tool in known.values()]
    counted = [counter.count(text) for text in texts]
    guessed = [estimated(text) for text in texts]
    errors = sorted(guess / count - 1 for guess, count in zip(guessed, counted, strict=True))
    twentieth = len(errors) // 20
    servers = {server for server, _ in known}
    print(f"{len(texts)} tools of {len(servers)} servers, {sum(counted)} tokens by {counter.name}")
    print(f"all: {sum(guessed) / sum(counted) - 1:+.1%}; each: {errors[0]:+.1%} to {errors[-1]:+.1%}")
    print(f"nine of ten: {errors[twentieth]:+.1%} to {errors[-1 - twentieth]:+.1%}")


if __name__ == "__main__":
    main()
