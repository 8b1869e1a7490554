"""What a module imports, as dotted names; imports inside functions and under TYPE_CHECKING count too.

`needs` leaves those out: it tells what must be loaded before a module is.
"""

import ast
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass

from tests.meta.tree import Module


@dataclass(frozen=True)
class Import:
    """One imported name: `target` is the module meant, `written` what follows `from` or `import`."""

    node: ast.Import | ast.ImportFrom | ast.Constant
    target: str
    written: str
    level: int


def imports(module: Module, known: Set[str]) -> Iterator[Import]:
    """Yield the imports of a module; `known` tells `from package import module` from `... import name`."""
    yield from _imports(module, module.nodes, known)
    if _is_face(module):
        yield from _lazy_imports(module, known)


def _imports(module: Module, nodes: Iterable[ast.AST], known: Set[str]) -> Iterator[Import]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(node, alias.name, alias.name, 0)
        elif isinstance(node, ast.ImportFrom):
            origin = _origin(module, node)
            for alias in node.names:
                full = f"{origin}.{alias.name}"
                yield Import(node, full if full in known else origin, node.module or "", node.level)


def needs(module: Module, known: Set[str]) -> set[str]:
    """Name the modules that are loaded while this one is; what a face loads for its users counts as well."""
    nodes = module.nodes if _is_face(module) else _run_at_loading(module.tree)
    found = {item.target for item in _imports(module, nodes, known)}
    if _is_face(module):
        found |= {item.target for item in _lazy_imports(module, known)}
    return (found & known) - {module.name}


def _lazy_imports(module: Module, known: Set[str]) -> Iterator[Import]:
    """Modules that a face names in a table, to import them when one of its names is used."""
    for node in module.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in known:
            yield Import(node, node.value, node.value, 0)


def _is_face(module: Module) -> bool:
    """Whether its names come from elsewhere when first used: listed under TYPE_CHECKING, or in a table."""
    return any(getattr(node, "name", "") == "__getattr__" for node in module.tree.body)


def _run_at_loading(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements that run when a module is loaded."""
    for field in ("body", "handlers", "orelse", "finalbody"):
        for child in getattr(node, field, ()):
            yield child
            if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and not _is_for_types(child):
                yield from _run_at_loading(child)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _origin(module: Module, node: ast.ImportFrom) -> str:
    if node.level == 0:
        return node.module or ""
    parts = module.package.split(".")
    parts = parts[: len(parts) - node.level + 1]
    return ".".join([*parts, node.module] if node.module else parts)
