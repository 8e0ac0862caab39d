"""An MCP server with the firing log of a pottery. Usage: kilns.py FILE"""

import json
from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from state import span, state
from typing_extensions import TypedDict

server = MCPServer("kilns", instructions="Firings of the pottery, their temperatures and what stood on the shelves.")

READINGS_A_PART = 20
MINUTES_BETWEEN = 15
# Number of probes that each kiln's controller rejects before it answers.
BUSY = {"east": 2, "west": 0, "raku": 3}

Kiln = Literal["east", "west", "raku"]


class Probe(TypedDict):
    kiln: Kiln
    celsius: float
    phase: Literal["cold", "heating", "soak", "cooling"]


def celsius(tenths):
    """Formats tenths of a degree as degrees, with a decimal comma and a space between thousands."""
    return f"{tenths / 10:,.1f}".replace(",", " ").replace(".", ",")


def firing_of(held, firing):
    found = next((found for found in held["firings"] if found["id"] == firing), None)
    if found is None:
        raise ToolError(f"no firing {firing}")
    return found


@server.tool()
def firing_log(week: str | None = None, kiln: Kiln | None = None) -> str:
    """The log of firings as a table, oldest first.

    Args:
        week: ISO week such as 2025-W06; all weeks without it.
        kiln: only this kiln.
    """
    with state() as held:
        lines = [f"{'FIRING':<9}{'KILN':<6}{'LOADED':<17}{'TOOK':>6}{'PEAK °C':>9}  STATE"]
        for firing in held["firings"]:
            if week and not firing["loaded"].startswith(week) or kiln and firing["kiln"] != kiln:
                continue
            peak = celsius(max(firing["curve"])) if firing["state"] == "done" else "-"
            lines.append(
                f"{firing['id']:<9}{firing['kiln']:<6}{firing['loaded']:<17}"
                f"{span(firing['minutes']):>6}{peak:>9}  {firing['state']}"
            )
        return "\n".join(lines)


@server.tool(structured_output=False)
def curve(firing: str, part: int = 1) -> str:
    """Temperature readings of a firing, in parts (the first line says how many there are)."""
    with state() as held:
        readings = firing_of(held, firing)["curve"]
        parts = -(-len(readings) // READINGS_A_PART)
        if not 1 <= part <= parts:
            raise ToolError(f"{firing} has parts 1 to {parts}")
        first = (part - 1) * READINGS_A_PART
        lines = [f"# {firing} part {part}/{parts}"]
        for number, tenths in enumerate(readings[first : first + READINGS_A_PART], first):
            lines.append(f"{span(number * MINUTES_BETWEEN)};{celsius(tenths)}")
        return "\n".join(lines)


@server.tool(structured_output=False)
def shelf_plan(firing: str) -> str:
    """What stood where in a firing: JSON with shelves and their pieces."""
    with state() as held:
        return f"Shelf plan of {firing}:\n{json.dumps(firing_of(held, firing)['shelves'])}"


@server.tool()
def note_defect(
    firing: str, piece: str, kind: Literal["crack", "bloat", "pinhole", "overfired"], remark: str | None = None
) -> str:
    """Notes a defect of a piece (such as K-3/7). The same kind of defect is noted only once for a piece."""
    with state() as held:
        found = firing_of(held, firing)
        if not any(piece == stood["id"] for shelf in found["shelves"] for stood in shelf["pieces"]):
            raise ToolError(f"{piece} was not in {firing}")
        if any(defect["piece"] == piece and defect["kind"] == kind for defect in found["defects"]):
            raise ToolError(f"{kind} is already noted for {piece}")
        found["defects"].append({"piece": piece, "kind": kind, "remark": remark})
        return f"noted, {len(found['defects'])} in {firing}"


@server.tool()
def defects(firing: str) -> str:
    """The defects noted for a firing, one per line."""
    with state() as held:
        lines = []
        for defect in firing_of(held, firing)["defects"]:
            remark = f" ({defect['remark']})" if defect["remark"] else ""
            lines.append(f"{defect['piece']} {defect['kind']}{remark}")
        return "\n".join(lines) or "none"


@server.tool()
def probe(kiln: Kiln) -> Probe:
    """The temperature in a kiln at this moment. The controller answers BUSY while it polls its sensors."""
    with state() as held:
        asked = held["asked"].get(kiln, 0)
        held["asked"][kiln] = asked + 1
        reading = held["now"][kiln]
    if asked < BUSY[kiln]:
        raise ToolError("BUSY polling sensors, ask again")
    return {"kiln": kiln, **reading}


server.run()
