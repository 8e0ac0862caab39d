"""An MCP server with the records of a beekeepers' club. Usage: hives.py FILE"""

from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from state import day, state
from typing_extensions import TypedDict

server = MCPServer("hives", instructions="Apiaries, colonies and inspections of the beekeepers' club.")

ENTRIES_A_PAGE = 3


class Apiary(TypedDict):
    code: str
    place: str
    stands: int


class Colony(TypedDict):
    hive: str
    apiary: str
    stand: int
    queen_year: int | None
    treatment: str | None


class Inspection(TypedDict):
    day: str
    weight: str
    mites: int | Literal["not counted"]
    queen: Literal["seen", "eggs only", "no sign"]
    supers: int


class Page(TypedDict):
    entries: list[Inspection]
    cursor: str | None


def hive_of(held, hive):
    if hive not in held["hives"]:
        raise ToolError(f"There is no hive {hive}.")
    return held["hives"][hive]


@server.tool()
def list_apiaries() -> list[Apiary]:
    """All apiaries. Stands are numbered from 1."""
    with state() as held:
        return held["apiaries"]


@server.tool()
def list_colonies(apiary: str | None = None) -> list[Colony]:
    """The colonies of an apiary (by its code), or all of them."""
    with state() as held:
        keys = ["apiary", "stand", "queen_year", "treatment"]
        colonies = [{"hive": hive, **{key: of[key] for key in keys}} for hive, of in held["hives"].items()]
        return [colony for colony in colonies if apiary in (None, colony["apiary"])]


@server.tool()
def inspections(hive: str, cursor: str | None = None) -> Page:
    """The inspections of a hive, newest first, a few at a time. Days are ISO week dates."""
    with state() as held:
        entries = sorted(hive_of(held, hive)["inspections"], key=lambda entry: day(entry["day"]), reverse=True)
        first = int(cursor.removeprefix("after:")) if cursor else 0
        end = first + ENTRIES_A_PAGE
        return {"entries": entries[first:end], "cursor": f"after:{end}" if end < len(entries) else None}


@server.tool(structured_output=False)
def record_inspection(
    hive: str,
    day: str,
    weight_kg: float,
    queen: Literal["seen", "eggs only", "no sign"],
    mites: int | Literal["not counted"] = "not counted",
    supers: int | None = None,
) -> str:
    """Records an inspection. One per hive and day (ISO week date); supers stay as they were if they are left out."""
    with state() as held:
        entries = hive_of(held, hive)["inspections"]
        if any(entry["day"] == day for entry in entries):
            raise ToolError(f"{hive} was already inspected on {day}.")
        weight = f"{weight_kg:.1f}".replace(".", ",") + " kg"
        supers = entries[-1]["supers"] if supers is None else supers
        entries.append({"day": day, "weight": weight, "mites": mites, "queen": queen, "supers": supers})
        return f"recorded: {hive} has {len(entries)} inspections"


@server.tool(structured_output=False)
def begin_treatment(hive: str, agent: Literal["oxalic", "formic", "thymol"]) -> str:
    """Begins a treatment against mites. Not while honey supers are on; with formic acid they may stay on."""
    with state() as held:
        found = hive_of(held, hive)
        if found["treatment"]:
            raise ToolError(f"{hive} is being treated with {found['treatment']}.")
        if agent != "formic" and found["inspections"][-1]["supers"]:
            raise ToolError(f"{hive} has honey supers on.")
        found["treatment"] = agent
        return f"{hive}: {agent} begun"


@server.tool(structured_output=False)
def end_treatment(hive: str) -> str:
    """Ends the treatment of a hive."""
    with state() as held:
        found = hive_of(held, hive)
        if not found["treatment"]:
            raise ToolError(f"{hive} is not being treated.")
        agent, found["treatment"] = found["treatment"], None
        return f"{hive}: {agent} ended"


@server.tool(structured_output=False)
def relocate(hive: str, apiary: str, stand: int) -> str:
    """Moves a hive to a free stand, of its own or another apiary. Hives under treatment stay where they are."""
    with state() as held:
        found = hive_of(held, hive)
        there = next((one for one in held["apiaries"] if one["code"] == apiary), None)
        if there is None or not 1 <= stand <= there["stands"]:
            raise ToolError(f"There is no stand {apiary}/{stand}.")
        if found["treatment"]:
            raise ToolError(f"{hive} is being treated with {found['treatment']}.")
        for other, of in held["hives"].items():
            if (of["apiary"], of["stand"]) == (apiary, stand):
                raise ToolError(f"Stand {apiary}/{stand} is taken by {other}.")
        found.update(apiary=apiary, stand=stand)
        return f"{hive} is at {apiary}/{stand}"


server.run()
