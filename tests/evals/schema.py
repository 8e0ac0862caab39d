"""Reads JSON schemas as far as a program needs them: the alternatives of a place, and whether it may be null."""

from typing import Any, Iterator, NamedTuple

Json = Any


class Place(NamedTuple):
    """A schema, and the one with the `$defs` that it refers to."""

    schema: Json
    root: Json

    def inner(self, schema: Json) -> "Place":
        return Place(schema, self.root)

    def alternatives(self) -> Iterator[dict[str, Json]]:
        schema = self.schema
        while isinstance(schema, dict) and "$ref" in schema:
            target = self.root
            for part in schema["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            schema = target
        if not isinstance(schema, dict):
            yield {}
        elif choice := schema.get("anyOf") or schema.get("oneOf"):
            for part in choice:
                yield from self.inner(part).alternatives()
        elif isinstance(schema.get("type"), list):
            yield from (schema | {"type": kind} for kind in schema["type"])
        else:
            yield schema

    def only(self) -> dict[str, Json] | None:
        """The schema apart from null, unless it is a choice."""
        found = [one for one in self.alternatives() if one.get("type") != "null"]
        return found[0] if len(found) == 1 else None

    def nullable(self) -> bool:
        return any(one.get("type") == "null" for one in self.alternatives())
