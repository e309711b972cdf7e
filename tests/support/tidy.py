"""What `test_tidy.py` looks for, as functions of source text. Nothing here is run or imported."""

import ast
from collections.abc import Iterator
from typing import Final

from support.sources import STAGES

FUNCTION_LINES_MAX: Final = 40
MODULE_LINES_MAX: Final = 300

# What a fold may not ask. A monotonic clock is not here: it bounds waits, and its number says
# nothing that a row could keep.
IMPURE: Final = (
    "aiohttp",
    "datetime.date.today",
    "datetime.datetime.now",
    "datetime.datetime.today",
    "datetime.datetime.utcnow",
    "http.client",
    "numpy.random",
    "os.environ",
    "os.getenv",
    "os.urandom",
    "random",
    "secrets",
    "socket",
    "time.ctime",
    "time.gmtime",
    "time.localtime",
    "time.time",
    "time.time_ns",
    "urllib.request",
    "uuid.uuid1",
    "uuid.uuid4",
    "uuid.uuid6",
    "uuid.uuid7",
    "uuid.uuid8",
)
SLEEPS: Final = ("asyncio.sleep", "time.sleep")
LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)
FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def long_functions(source: str, *, signatures: bool = True) -> list[str]:
    """Name the functions in *source* that do not fit on a screen, decorators not counted.

    Without *signatures* only the body counts: a command's signature is its table of options.
    """
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, FUNCTIONS)]
    starts = [f.lineno if signatures else f.body[0].lineno for f in functions]
    return [
        f.name
        for f, start in zip(functions, starts, strict=True)
        if (f.end_lineno or 0) - start >= FUNCTION_LINES_MAX
    ]


def is_long_module(source: str) -> bool:
    """Say whether *source* has more lines than a module may."""
    return len(source.splitlines()) > MODULE_LINES_MAX


def imports(source: str) -> set[str]:
    """Return the full names that *source* imports, wherever in it the import stands.

    `from a.b import c` counts as `a.b.c`, since c may be a module.
    """
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = "." * node.level + (node.module or "")
            found |= {f"{start}.{alias.name}" for alias in node.names}
    return found


def roots(source: str) -> set[str]:
    """Return the top-level packages that *source* imports; a relative import has the root ""."""
    return {name.partition(".")[0] for name in imports(source)}


def imported_against_the_stream(source: str, *, stage: str) -> set[str]:
    """Return the imports of *source*, a module of *stage*, that point the wrong way.

    A stage imports itself and those before it; src/mnemolog (stage "mnemolog") imports all.
    Relative imports are wrong everywhere, as their direction can't be read.
    """
    if stage not in STAGES:
        return {name for name in imports(source) if name.startswith(".")}
    allowed = STAGES[: STAGES.index(stage) + 1]
    return {name for name in imports(source) if not _is_allowed(name, allowed)}


def _is_allowed(name: str, allowed: tuple[str, ...]) -> bool:
    root, _, rest = name.partition(".")
    return root != "" and (root != "mnemolog" or rest.partition(".")[0] in allowed)


def impurities(source: str) -> set[str]:
    """Return what *source* mentions of the clock, chance, the environment and the network."""
    return {name for name, _ in _mentions(ast.parse(source)) if _is_within(name, IMPURE)}


def sleeps_without_a_poll(source: str) -> list[int]:
    """Return the lines of *source* that sleep outside a loop that can end by what it sees.

    `asyncio.sleep(0)` only lets others run and is no sleep.
    """
    tree = ast.parse(source)
    polls = [node for node in ast.walk(tree) if isinstance(node, LOOPS) and _can_end(node)]
    polled = {id(inner) for loop in polls for inner in ast.walk(loop)}
    yields = {id(node.func) for node in ast.walk(tree) if _is_yield(node)}
    return [
        node.lineno
        for name, node in _mentions(tree)
        if name in SLEEPS and id(node) not in polled | yields
    ]


def _can_end(loop: ast.AST) -> bool:
    asks = isinstance(loop, ast.While) and not isinstance(loop.test, ast.Constant)
    return asks or any(isinstance(node, ast.Break | ast.Return) for node in ast.walk(loop))


def _is_yield(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="sleep"), args=[ast.Constant(value=0)]):
            return True
        case _:
            return False


def _is_within(name: str, banned: tuple[str, ...]) -> bool:
    return any(name == one or name.startswith(f"{one}.") for one in banned)


def _mentions(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield each dotted name that *tree* uses, by its full name, whatever it was imported as."""
    full = _full_names(tree)
    for node in ast.walk(tree):
        name = _dotted(node)
        first, dot, rest = name.partition(".")
        if first in full and isinstance(node, ast.expr):
            yield full[first] + dot + rest, node


def _full_names(tree: ast.AST) -> dict[str, str]:
    full = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                full[alias.asname or root] = alias.name if alias.asname else root
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return full


def _dotted(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            before = _dotted(value)
            return f"{before}.{attr}" if before else ""
        case _:
            return ""
