"""Compares JSON values member by member."""

from typing import Any, NamedTuple

# Differences that lose nothing.
HARMLESS = {"order of members", "integer or float"}
# More differences of one value say nothing new.
LIMIT = 20


class Difference(NamedTuple):
    path: str
    kind: str
    expected: Any
    got: Any


def differences(expected: Any, got: Any, path: str = "") -> list[Difference]:
    found: list[Difference] = []
    visit(expected, got, path, found)
    return found[:LIMIT]


def visit(expected: Any, got: Any, path: str, found: list[Difference]) -> None:
    if len(found) >= LIMIT:
        return
    if isinstance(expected, bool) or isinstance(got, bool):
        if expected is not got:
            found.append(Difference(path, "value", expected, got))
    elif isinstance(expected, (int, float)) and isinstance(got, (int, float)):
        compare_numbers(expected, got, path, found)
    elif isinstance(expected, dict) and isinstance(got, dict):
        compare_objects(expected, got, path, found)
    elif isinstance(expected, (list, tuple)) and isinstance(got, (list, tuple)):
        if len(expected) != len(got):
            found.append(Difference(path, "length", len(expected), len(got)))
        for index, pair in enumerate(zip(expected, got)):
            visit(*pair, f"{path}[{index}]", found)
    elif expected != got:
        found.append(Difference(path, "value", expected, got))


def compare_numbers(expected: float, got: float, path: str, found: list[Difference]) -> None:
    if expected != got:
        found.append(Difference(path, "number", expected, got))
    elif type(expected) is not type(got):
        found.append(Difference(path, "integer or float", expected, got))


def compare_objects(expected: dict[str, Any], got: dict[str, Any], path: str, found: list[Difference]) -> None:
    for key in expected:
        if key in got:
            visit(expected[key], got[key], f"{path}.{key}", found)
        else:
            found.append(Difference(f"{path}.{key}", "missing", expected[key], None))
    for key in got:
        if key not in expected:
            found.append(Difference(f"{path}.{key}", "added", None, got[key]))
    if list(expected) != list(got) and set(expected) == set(got):
        found.append(Difference(path, "order of members", list(expected), list(got)))
