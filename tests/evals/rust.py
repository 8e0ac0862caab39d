"""Translates calls to Rust, as a model would write them from the signatures that Toolsmith shows."""

import json
import re
from typing import Any

from benchmarks.kind import Call
from schema import Place

Json = Any
KEYWORDS = set("""as async await break const continue crate dyn else enum extern false fn for if impl in let loop match
mod move mut pub ref return self Self static struct super trait true type unsafe use where while abstract become box do
final macro override priv try typeof unsized virtual yield gen""".split())
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def snake(name: str) -> str:
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    name = re.sub(r"[^A-Za-z0-9]+", "_", name).lower().strip("_")
    return name + "_" if name in KEYWORDS else name


def camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in snake(name).rstrip("_").split("_"))


def string(text: str) -> str:
    return '"' + "".join(ESCAPES.get(one, one if one.isprintable() else "\\u{%x}" % ord(one)) for one in text) + '"'


def json_text(item: Json) -> str:
    """The inside of `json!(…)`."""
    if isinstance(item, str):
        return string(item)
    if isinstance(item, (list, tuple)):
        return "[" + ", ".join(map(json_text, item)) + "]"
    if isinstance(item, dict):
        return "{" + ", ".join(f"{string(str(key))}: {json_text(value)}" for key, value in item.items()) + "}"
    return json.dumps(item)


def literal(item: Json, place: Place, loose: bool = False) -> str:
    """A value at a place. `loose` writes numbers as JSON does, so that an integer may stand for a float."""
    schema = place.only()
    kind = schema and schema.get("type")
    if item is None:
        return "None"
    if kind in (None, "object") or isinstance(item, dict):
        return f"json!({json_text(item)})"
    if isinstance(item, str):
        return string(item)
    if isinstance(item, (list, tuple)):
        inner = place.inner(schema.get("items", {}))
        return "vec![" + ", ".join(literal(one, inner, loose) for one in item) + "]"
    if kind == "number" and not loose and not isinstance(item, bool):
        return repr(float(item))
    return json.dumps(item)


def function_call(call: Call, schema: Json, written: dict[str, str]) -> str:
    """The required arguments in the order of the signature, and the others as setters. `written` has the expressions of
    arguments that are no literals."""
    properties, required = schema.get("properties", {}), schema.get("required", [])

    def expression(name: str) -> str:
        return written.get(name) or literal(call.arguments[name], Place(properties[name], schema))

    order = dict.fromkeys(name for name in required if name in properties and name in call.arguments)
    text = f"{snake(call.server)}::{snake(call.tool)}({', '.join(map(expression, order))})"
    setters = [name for name in properties if name in call.arguments and name not in required]
    return text + "".join(f".{snake(name)}({expression(name)})" for name in setters)


def owned(item: Json, place: Place) -> str:
    """A value for a field of a struct, whose strings are owned."""
    if place.only() is not None and isinstance(item, str):
        return string(item) + ".into()"
    if place.only() is not None and isinstance(item, list) and item and all(isinstance(one, str) for one in item):
        return "vec![" + ", ".join(string(one) + ".into()" for one in item) + "]"
    return literal(item, place)


def wrapped(item: Json, place: Place, depth: int) -> str:
    """A value of an `Option` of this depth: two for an optional field that may also be null."""
    text = "None" if item is None else owned(item, place)
    levels = depth - (item is None)
    return "Some(" * levels + text + ")" * levels


def struct_call(call: Call, schema: Json, sloppy: bool) -> str:
    """The form with named fields. A sloppy one has what models forget: borrowed strings, integers for floats, no
    `Some`, and no fields for optional arguments that are absent."""
    fields = []
    for name, property_ in schema.get("properties", {}).items():
        place = Place(property_, schema)
        if name not in call.arguments:
            fields += [] if sloppy else [f"{snake(name)}: None"]
        elif sloppy:
            fields.append(f"{snake(name)}: {literal(call.arguments[name], place, loose=True)}")
        else:
            depth = (name not in schema.get("required", [])) + place.nullable()
            fields.append(f"{snake(name)}: {wrapped(call.arguments[name], place, depth)}")
    inside = f" {', '.join(fields)} " if fields else ""
    return f"{snake(call.server)}::{camel(call.tool)}Input {{{inside}}}.call()"


def undeclared(call: Call, schema: Json) -> list[str]:
    """Arguments that the tool does not declare, and required ones that the gold solution lacks: no typed program can
    have these faults."""
    properties = schema.get("properties", {})
    unknown = [f"unknown argument {name}" for name in call.arguments if name not in properties]
    return unknown + [f"no argument {name}" for name in schema.get("required", []) if name not in call.arguments]
