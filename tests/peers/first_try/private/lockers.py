"""An MCP server for a network of parcel lockers. Usage: lockers.py FILE"""

from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from state import day, state
from typing_extensions import TypedDict

server = MCPServer("lockers", instructions="Parcel lockers of the northern district. Today is 2025-W11-3.")

STATIONS_A_PAGE = 3
PARCELS_A_PAGE = 4
SIZES = "SML"


class Tracked(TypedDict):
    parcel: str
    status: Literal["waiting", "stowed", "collected", "returned"]
    compartment: str | None
    due: str


def parcel_of(held, parcel):
    if parcel not in held["parcels"]:
        raise ToolError(f"E10 unknown parcel {parcel}")
    return held["parcels"][parcel]


def occupant(held, compartment):
    return next((id for id, parcel in held["parcels"].items() if parcel["compartment"] == compartment), None)


def condition(held, compartment, door):
    if door["broken"]:
        return "out of order"
    return "held" if occupant(held, compartment) else "free"


@server.tool(structured_output=False)
def station_directory(marker: str | None = None) -> str:
    """Lists the locker stations, a few at a time. Pass the marker of the last line to go on."""
    with state() as held:
        codes = sorted(code for code in held["stations"] if marker is None or code > marker)
        lines = ["CODE|DISTRICT|DOORS"]
        for code in codes[:STATIONS_A_PAGE]:
            station = held["stations"][code]
            lines.append(f"{code}|{station['district']}|{len(station['doors'])}")
        if len(codes) > STATIONS_A_PAGE:
            lines.append(f">> marker={codes[STATIONS_A_PAGE - 1]}")
        return "\n".join(lines)


@server.tool(structured_output=False)
def compartments(station: str) -> str:
    """Shows every compartment of a station with its size (S, M, L), its state and the parcel in it."""
    with state() as held:
        if station not in held["stations"]:
            raise ToolError(f"E11 unknown station {station}")
        blocks = []
        for compartment, door in held["stations"][station]["doors"].items():
            parcel = occupant(held, compartment) or "-"
            blocks.append(
                f"no: {compartment}\nsize: {door['size']}\n"
                f"state: {condition(held, compartment, door)}\nparcel: {parcel}\n"
            )
        return "--\n".join(blocks)


@server.tool(structured_output=False)
def intake(after: int = 0) -> str:
    """Parcels that wait in the van to be stowed, as a Python dict; 'more' is the value of `after` for the next page."""
    with state() as held:
        waiting = sorted(id for id, parcel in held["parcels"].items() if parcel["status"] == "waiting")
        page = waiting[after : after + PARCELS_A_PAGE]
        keys = ["size", "wants", "due", "fragile", "note"]
        parcels = [{"id": id, **{key: held["parcels"][id][key] for key in keys}} for id in page]
        end = after + PARCELS_A_PAGE
        return repr({"parcels": parcels, "more": end if end < len(waiting) else None})


@server.tool()
def track(parcel: str) -> Tracked:
    """Where a parcel is, and until when it should be collected (due)."""
    with state() as held:
        found = parcel_of(held, parcel)
        keys = ["status", "compartment", "due"]
        return {"parcel": parcel, **{key: found[key] for key in keys}}


@server.tool(structured_output=False)
def stow(parcel: str, compartment: str) -> str:
    """Opens the door of a free compartment and stows a waiting parcel in it.

    A parcel fits a compartment of its size or a larger one.
    """
    with state() as held:
        found = parcel_of(held, parcel)
        if found["status"] != "waiting":
            raise ToolError(f"E20 {parcel} is {found['status']}")
        door = held["stations"].get(compartment.split("/")[0], {"doors": {}})["doors"].get(compartment)
        if door is None:
            raise ToolError(f"E12 unknown compartment {compartment}")
        if condition(held, compartment, door) != "free":
            raise ToolError(f"E21 {compartment} is {condition(held, compartment, door)}")
        if SIZES.index(door["size"]) < SIZES.index(found["size"]):
            raise ToolError(f"E22 {parcel} ({found['size']}) does not fit {compartment} ({door['size']})")
        if door["jammed"]:
            raise ToolError(f"E23 the door of {compartment} does not open")
        found.update(status="stowed", compartment=compartment)
        return f"OK {parcel} -> {compartment}"


@server.tool(structured_output=False)
def release(parcel: str, reason: Literal["collected", "returned", "moved"]) -> str:
    """Takes a parcel out of its compartment. A parcel that is moved waits in the van again.

    Only parcels whose due date has passed can be returned to the sender.
    """
    with state() as held:
        found = parcel_of(held, parcel)
        if found["status"] != "stowed":
            raise ToolError(f"E30 {parcel} is in no compartment")
        if reason == "returned" and day(found["due"]) >= day(held["today"]):
            raise ToolError(f"E31 {parcel} is due {found['due']}, today is {held['today']}")
        compartment = found["compartment"]
        found.update(status="waiting" if reason == "moved" else reason, compartment=None)
        return f"OK {compartment} is free"


server.run()
