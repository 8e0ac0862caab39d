"""An MCP server for the rosters of a tram depot. Usage: trams.py FILE"""

from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from state import span, state

server = MCPServer("trams", instructions="Rosters, drivers and trams of the depot. Days are ISO week dates.")

DRIVERS_A_PAGE = 4


def minutes(clock):
    hours, rest = clock.split(":")
    return int(hours) * 60 + int(rest)


def length(run):
    return minutes(run["in"]) - minutes(run["out"])


def runs_of(held, day):
    if day not in held["days"]:
        raise ToolError(f"no roster for {day}")
    return held["days"][day]


def tram_of(held, number):
    if str(number) not in held["trams"]:
        raise ToolError(f"no tram {number}")
    return held["trams"][str(number)]


@server.tool(structured_output=False)
def roster(day: str) -> str:
    """The runs of a day with their line, tram, driver (number, or - for none) and times.

    Args:
        day: such as 2025-W14-3
    """
    with state() as held:
        lines = ["RUN|LINE|TRAM|DRIVER|OUT|IN|LEN"]
        for name, run in runs_of(held, day).items():
            driver = run["driver"] or "-"
            cells = [name, run["line"], run["tram"], driver, run["out"], run["in"], span(length(run))]
            lines.append("|".join(map(str, cells)))
        return "\n".join(lines)


@server.tool(structured_output=False)
def drivers(page: int = 1) -> str:
    """The drivers: number, name, lines they may drive, most time a week, days off. Four to a page."""
    with state() as held:
        everyone = list(held["drivers"].items())
        pages = -(-len(everyone) // DRIVERS_A_PAGE)
        if not 1 <= page <= pages:
            raise ToolError(f"pages are 1 to {pages}")
        blocks = []
        for number, driver in everyone[(page - 1) * DRIVERS_A_PAGE : page * DRIVERS_A_PAGE]:
            off = " ".join(driver["off"]) or "none"
            lines = ", ".join(map(str, driver["lines"]))
            blocks.append(
                f"Driver {number}\n  name = {driver['name']}\n  lines = {lines}\n"
                f"  week = {span(driver['most'])}\n  off = {off}\n"
            )
        return "--\n".join(blocks) + f"== page {page} of {pages}"


@server.tool(structured_output=False)
def tram(number: int) -> str:
    """All about a tram as a Python dict, with its defects."""
    with state() as held:
        return repr({"number": number, **tram_of(held, number)})


@server.tool(structured_output=False)
def assign(day: str, run: str, driver: int | None = None) -> str:
    """Gives a run to a driver (by number), or takes its driver away if none is named.

    A driver has at most one run a day, none on days off, and keeps to the lines and the weekly time of the licence.
    """
    with state() as held:
        runs = runs_of(held, day)
        if run not in runs:
            raise ToolError(f"no run {run} on {day}")
        if driver is None:
            runs[run]["driver"] = None
            return f"{run}: open"
        found = held["drivers"].get(str(driver))
        if found is None:
            raise ToolError(f"no driver {driver}")
        if runs[run]["driver"]:
            raise ToolError(f"R0 {run} is driven by {runs[run]['driver']}")
        if runs[run]["line"] not in found["lines"]:
            raise ToolError(f"R1 {driver} may not drive line {runs[run]['line']}")
        if day in found["off"]:
            raise ToolError(f"R2 {driver} is off on {day}")
        for other, of in runs.items():
            if of["driver"] == driver:
                raise ToolError(f"R3 {driver} has {other} on {day}")
        week = [of for name, of_day in held["days"].items() if name[:8] == day[:8] for of in of_day.values()]
        total = sum(length(of) for of in week if of["driver"] == driver) + length(runs[run])
        if total > found["most"]:
            raise ToolError(f"R4 {driver} would have {span(total)} of {span(found['most'])}")
        runs[run]["driver"] = driver
        return f"{run}: {driver}, {span(total)} this week"


@server.tool(structured_output=False)
def close_defect(defect: str, outcome: Literal["repaired", "deferred", "no fault found"]) -> str:
    """Closes a defect of a tram (such as D-2113/1). Safety defects can't be deferred."""
    with state() as held:
        number = defect.removeprefix("D-").split("/")[0]
        found = next((one for one in tram_of(held, number)["defects"] if one["id"] == defect), None)
        if found is None:
            raise ToolError(f"no defect {defect}")
        if found["outcome"] is not None:
            raise ToolError(f"{defect} is closed: {found['outcome']}")
        if found["safety"] and outcome == "deferred":
            raise ToolError(f"{defect} is a safety defect")
        found["outcome"] = outcome
        return f"{defect}: {outcome}"


@server.tool(structured_output=False)
def release_tram(number: int) -> str:
    """Puts a tram from the workshop back into service. It must have no open defects."""
    with state() as held:
        found = tram_of(held, number)
        if found["state"] != "workshop":
            raise ToolError(f"{number} is {found['state']}")
        if still := [one["id"] for one in found["defects"] if one["outcome"] is None]:
            raise ToolError(f"{number} has open defects: {', '.join(still)}")
        found["state"] = "ready"
        return f"{number}: ready"


server.run()
