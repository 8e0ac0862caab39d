"""Finds arguments whose value is in an earlier result and not in the prompt, and writes them as typed accesses to that
result: `r1.result[3].id.clone()`. Gold solutions have only literals, although an agent can know such a value only from
the earlier result."""

from typing import Any, Iterator

from benchmarks.kind import Call
from rust import literal, snake, string
from schema import Place

Json = Any
Path = tuple[str | int, ...]


def leaves(value: Json, path: Path = ()) -> Iterator[tuple[Path, Json]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, path + (key,))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, path + (index,))
    elif value is not None and not isinstance(value, bool):
        yield path, value


class Access:
    """A Rust expression that follows a path into a typed result."""

    def __init__(self, name: str, place: Place) -> None:
        self.text, self.place, self.optional = name, place, False

    def follow(self, step: str | int) -> bool:
        """Goes one step. False if that is a choice or has no type."""
        schema = self.place.only()
        if schema is None:
            return False
        if self.optional or self.place.nullable():
            self.text += ".as_ref().unwrap()"
        self.optional = False
        if isinstance(step, int) and "items" in schema:
            self.text += f"[{step}]"
            self.place = self.place.inner(schema["items"])
        elif step in schema.get("properties", {}):
            self.text += f".{snake(step)}"
            self.optional = step not in schema.get("required", [])
            self.place = self.place.inner(schema["properties"][step])
        elif isinstance(schema.get("additionalProperties"), dict) and isinstance(step, str):
            self.text += f"[{string(step)}]"
            self.place = self.place.inner(schema["additionalProperties"])
        else:
            return False
        return True

    def value(self) -> tuple[str, str] | None:
        """The expression of a string or a number, and its type."""
        schema = self.place.only()
        kind = schema and schema.get("type")
        if kind not in ("string", "integer", "number") or "enum" in schema or "const" in schema:
            return None
        text = self.text + (".clone()" if kind == "string" else "")
        return text + (".unwrap()" if self.optional or self.place.nullable() else ""), kind


def access(name: str, path: Path, schema: Json) -> tuple[str, str] | None:
    made = Access(name, Place(schema, schema))
    return made.value() if all(made.follow(step) for step in path) else None


class Flow:
    """The values of the results so far. The first place of a value counts."""

    def __init__(self, prompt: str) -> None:
        self.prompt, self.known = prompt, {}

    def add(self, name: str, result: Json, schema: Json) -> None:
        for path, value in leaves(result):
            if made := access(name, path, schema):
                self.known.setdefault((type(value), value), made)

    def written(self, call: Call, schema: Json) -> dict[str, str]:
        """The arguments of a call that earlier results have, as expressions."""
        found = {}
        for name, item in call.arguments.items():
            place = Place(schema.get("properties", {}).get(name, {}), schema)
            kind = place.only()
            if kind and isinstance(item, list):
                text = self.elements(item, place.inner(kind.get("items", {})))
            else:
                text = kind and self.find(item, kind.get("type"))
            if text:
                found[name] = text
        return found

    def elements(self, items: list[Json], inner: Place) -> str | None:
        kind = (inner.only() or {}).get("type")
        parts = [self.find(item, kind) for item in items]
        if not any(parts):
            return None
        own = [literal(item, inner) + (".to_string()" if isinstance(item, str) else "") for item in items]
        return "vec![" + ", ".join(part or text for part, text in zip(parts, own)) + "]"

    def find(self, value: Json, kind: str | None) -> str | None:
        if value is None or isinstance(value, (bool, list, dict)) or str(value) in self.prompt:
            return None
        text, found = self.known.get((type(value), value), (None, None))
        return text if found == kind else None

    def mentioned(self, text: str) -> list[str]:
        """Expressions of the values that a text has and the prompt does not."""
        return [made for (_, value), (made, _) in self.known.items()
                if str(value) and str(value) in text and str(value) not in self.prompt]
