"""An MCP server for the prop store of a theatre. Usage: props.py FILE"""

import json
import struct
import zlib
from typing import Literal

from mcp.server.mcpserver import Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from state import day, state
from typing_extensions import TypedDict

server = MCPServer("props", instructions="The prop store: what there is, who has it, and until when.")

PROPS_A_PAGE = 6
MOST_TAGS = 3

Kind = Literal["hand", "furniture", "costume", "set"]


class Loan(TypedDict):
    production: str
    until: str


class Card(TypedDict):
    prop: str
    name: str
    kind: Kind
    worth: str
    tags: list[str]
    repair: bool
    loan: Loan | None


def prop_of(held, prop):
    if prop not in held["props"]:
        raise ToolError(f"unknown prop {prop}")
    return held["props"][prop]


def whereabouts(prop):
    if prop["loan"]:
        return f"lent to {prop['loan']['production']} until {prop['loan']['until']}"
    return "in repair" if prop["repair"] else "in store"


def euros(cents):
    """Formats cents as euros, such as 1.250,00 EUR."""
    return f"{cents / 100:,.2f} EUR".translate(str.maketrans(",.", ".,"))


@server.tool(structured_output=False)
def search_props(words: str = "", kind: Kind | None = None, token: str | None = None) -> str:
    """Searches props by words in their names, a few at a time. The token for the next page stands at the end."""
    with state() as held:
        found = [
            (id, prop)
            for id, prop in held["props"].items()
            if words.lower() in prop["name"].lower() and kind in (None, prop["kind"])
        ]
        first = int(token.removeprefix("t")) if token else 0
        end = first + PROPS_A_PAGE
        lines = [f"[{id}] {prop['name']} :: {prop['kind']} :: {whereabouts(prop)}" for id, prop in found[first:end]]
        if end < len(found):
            lines.append(f"(more: t{end})")
        return "\n".join(lines) or "nothing found"


@server.tool()
def prop_card(prop: str) -> Card:
    """The card of a prop. `worth` is what it is insured for."""
    with state() as held:
        found = prop_of(held, prop)
        keys = ["name", "kind", "tags", "repair", "loan"]
        return {"prop": prop, "worth": euros(found["cents"]), **{key: found[key] for key in keys}}


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


@server.tool(structured_output=False)
def photo(prop: str) -> list:
    """A photo of a prop, if there is one, with a caption."""
    with state() as held:
        found = prop_of(held, prop)
    if found["colour"] is None:
        return [f"no photo of {found['name']}"]
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(b"\0" + bytes.fromhex(found["colour"]))
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")
    return [f"{found['name']} ({prop})", Image(data=png, format="png")]


@server.tool(structured_output=False)
def productions() -> str:
    """The productions with premiere and last night, one JSON object per line."""
    with state() as held:
        return "\n".join(json.dumps(production) for production in held["productions"])


@server.tool(structured_output=False)
def lend(prop: str, production: str, until: str) -> str:
    """Lends a prop to a production until a day (ISO week date), at the latest its last night."""
    with state() as held:
        found = prop_of(held, prop)
        borrower = next((one for one in held["productions"] if one["title"] == production), None)
        if borrower is None:
            raise ToolError(f"unknown production {production}")
        if found["loan"] or found["repair"]:
            raise ToolError(f"{prop} is not available: {whereabouts(found)}")
        if day(until) > day(borrower["last"]):
            raise ToolError(f"{production} ends on {borrower['last']}")
        found["loan"] = {"production": production, "until": until}
        return f"{prop} lent"


@server.tool(structured_output=False)
def take_back(prop: str, condition: Literal["good", "damaged"] = "good") -> str:
    """Takes a prop back that was lent. A damaged one goes to the workshop."""
    with state() as held:
        found = prop_of(held, prop)
        if not found["loan"]:
            raise ToolError(f"{prop} is not lent: {whereabouts(found)}")
        found.update(loan=None, repair=condition == "damaged")
        return f"{prop} {whereabouts(found)}"


@server.tool(structured_output=False)
def retag(prop: str, add: list[str] | None = None, remove: list[str] | None = None) -> str:
    """Changes the tags of a prop; what is removed goes first. A prop has at most three tags."""
    with state() as held:
        found = prop_of(held, prop)
        tags = [tag for tag in found["tags"] if tag not in (remove or [])]
        if twice := [tag for tag in add or [] if tag in tags]:
            raise ToolError(f"{prop} already has {', '.join(twice)}")
        tags += add or []
        if len(tags) > MOST_TAGS:
            raise ToolError(f"{prop} would have {len(tags)} tags, the most is {MOST_TAGS}")
        found["tags"] = tags
        return f"{prop}: {', '.join(tags) or 'no tags'}"


server.run()
