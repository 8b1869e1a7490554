"""What a module imports, as dotted names; imports inside functions and under TYPE_CHECKING count too."""

import ast
from collections.abc import Iterator, Set
from dataclasses import dataclass

from tests.meta.tree import Module


@dataclass(frozen=True)
class Import:
    """One imported name: `target` is the module meant, `written` what follows `from` or `import`."""

    node: ast.Import | ast.ImportFrom
    target: str
    written: str
    level: int


def imports(module: Module, known: Set[str]) -> Iterator[Import]:
    """Yield the imports of a module; `known` tells `from package import module` from `... import name`."""
    for node in module.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(node, alias.name, alias.name, 0)
        elif isinstance(node, ast.ImportFrom):
            origin = _origin(module, node)
            for alias in node.names:
                full = f"{origin}.{alias.name}"
                yield Import(node, full if full in known else origin, node.module or "", node.level)


def _origin(module: Module, node: ast.ImportFrom) -> str:
    if node.level == 0:
        return node.module or ""
    parts = module.package.split(".")
    parts = parts[: len(parts) - node.level + 1]
    return ".".join([*parts, node.module] if node.module else parts)
