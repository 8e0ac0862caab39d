"""Markdown tables of the results, in docs/evidence.md and README.md too."""

from collections import Counter
from pathlib import Path
from typing import Any

import attacks
import chart
import guarded
from replay import Plan, Row

Json = Any


def summary(plan: Plan, rows: list[Row], faults: dict[str, int]) -> Json:
    differing = Counter(name for row in rows for name in row.failures)
    return {
        "name": plan.name, "benchmark": plan.benchmark, "mode": plan.mode, "form": plan.form, "kind": plan.kind,
        "tasks": len(rows), "calls": sum(len(row.calls) for row in rows),
        "compiled": sum(row.status != "compile_error" for row in rows),
        "ran": sum(row.status == "ok" for row in rows),
        "equal": sum(not row.failures for row in rows),
        "arguments": len(rows) - differing["arguments"], "results": len(rows) - differing["results"] - sum(
            row.status != "ok" for row in rows),
        "states": len(rows) - differing["state"], "checks": len(rows) - differing["check"],
        "corrections": sum(len(row.corrections) for row in rows),
        "accesses": sum(row.accesses for row in rows), "faults": faults}


def table(head: list[str], rows: list[list[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def thousands(number: float) -> str:
    return f"{round(number):,}".replace(",", " ")


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"


def replays(results: Json) -> str:
    """The last two columns say whose fault the rest is."""
    rows = []
    for one in results["replays"]:
        name = f"{one['benchmark']}{', attacker' if one['kind'] != 'user' else ''}"
        rows.append([name, one["mode"], one["form"], one["tasks"], one["calls"], one["compiled"], one["states"],
                     one["equal"], one["corrections"], one["faults"]["benchmark"], one["faults"]["product"]])
    return table(["benchmark", "schemas", "form", "tasks", "calls", "compiled", "state equal", "all equal",
                  "corrections", "benchmark's faults", "our limits"], rows)


def tokens(results: Json) -> str:
    rows = []
    for one in results.get("tokens", []):
        for way, cost in one["ways"].items():
            name = f"{one['benchmark']} {one['part']} ({round(one['tools'])} tools, {one['tasks']} tasks)"
            rows.append([name, way, *(thousands(cost[key]) for key in (
                "definitions", "context", "read", "read_cached", "written")), f"{cost['turns']:.1f}"])
    return table(["tasks", "way", "definitions", "last prompt", "read", "read with cache", "written", "turns"], rows)


def peers(results: Json) -> str:
    rows = [[one["name"], *(f"{one[key]} of {one['tasks']}" for key in ("states", "arguments", "results")),
             *(thousands(one["cost"][key]) for key in ("definitions", "read", "read_cached", "written")),
             f"{one['cost']['turns']:.1f}", thousands(one["milliseconds"])] for one in results.get("peers", [])]
    return table(["way", "state equal", "arguments equal", "results equal", "definitions", "read", "read with cache",
                  "written", "turns", "ms"], rows)


def attack_table(results: Json) -> str:
    found, rows = results["attacks"], []
    for way, name in attacks.WAYS.items():
        every, calls = found["all"]["ways"][way], found["with calls"]["ways"][way]
        rows.append([
            name, f"{every['attacks']} of {found['all']['pairs']} ({percent(every['attacks'], found['all']['pairs'])})",
            f"{calls['attacks']} of {found['with calls']['pairs']} "
            f"({percent(calls['attacks'], found['with calls']['pairs'])})",
            percent(every["utility"], found["all"]["pairs"]),
            f"{every['questions'] / found['all']['pairs']:.1f}"])
    escapes = results["escapes"]
    rows.append(["code, the sandbox's own attackers", f"{sum(escapes.values())} of {len(escapes)} "
                 "public kinds of payloads", "–", "–", "–"])
    return table(["the model obeys by", "attacks that succeed", "of those whose goal needs a call",
                  "user's task done", "questions"], rows)


def guarded_table(results: Json) -> str:
    """The attacks on sessions with rules about flows."""
    rows = []
    for way, name in guarded.WAYS.items():
        one = results["guarded"]["ways"][way]
        rows.append([
            name, f"{one['attacks']} of {one['pairs']} ({percent(one['attacks'], one['pairs'])})",
            f"{one['attacks_with_calls']} of {one['with_calls']} "
            f"({percent(one['attacks_with_calls'], one['with_calls'])})",
            percent(one["utility_attacked"], one["pairs"]), f"{one['kept']} of {one['tasks']}",
            f"{one['questions_attacked']:.1f}", f"{one['questions']:.1f}"])
    return table(["the model obeys by", "attacks that succeed", "of those whose goal needs a call", "user's task done",
                  "without attacks", "questions", "without attacks"], rows)


def tables(results: Json) -> str:
    parts = [replays(results)]
    parts += [tokens(results)] if results.get("tokens") else []
    parts += [peers(results)] if results.get("peers") else []
    parts += [attack_table(results)] if results.get("attacks") and results.get("escapes") else []
    parts += [guarded_table(results)] if results.get("guarded") else []
    return "\n\n".join(parts)


def short(results: Json) -> str:
    """README's table: one line for each question of a sceptic."""
    named = {one["name"]: one for one in results["replays"]}
    dojo, bfcl = named["agentdojo-sig-functions"], named["bfcl-lax-functions"]
    way = results["attacks"]["with calls"]["ways"]
    pairs = results["attacks"]["with calls"]["pairs"]
    rows = [
        ["AgentDojo's gold solutions that end in AgentDojo's own final state", f"{dojo['states']} of {dojo['tasks']}"],
        ["BFCL's different multi-turn solutions, and those that contradict BFCL's own schemas",
         f"{bfcl['states']} of {bfcl['tasks']}, {bfcl['faults']['benchmark']}"],
        ["AgentDojo's injections that succeed if the model obeys: direct calls, approved programs",
         f"{percent(way['direct']['attacks'], pairs)}, {percent(way['second']['attacks'], pairs)}"]]
    return table(["question", "answer"], rows)


def replace(text: str, name: str, content: str) -> str:
    """Replaces the part between the comments of this name."""
    begin, end = f"<!-- generated: {name} -->", "<!-- end -->"
    head, rest = text.split(begin, 1)
    return f"{head}{begin}\n{content}\n{end}{rest.split(end, 1)[1]}"


def update(root: Path, results: Json) -> None:
    pages = {"docs/evidence.md": {"replays": replays, "tokens": tokens, "peers": peers, "attacks": attack_table,
                                  "guarded": guarded_table},
             "README.md": {"evidence": short}}
    for page, parts in pages.items():
        text = (root / page).read_text()
        for name, make in parts.items():
            text = replace(text, name, make(results))
        (root / page).write_text(text)
    for name, svg in chart.charts(results).items():
        (root / "docs/images" / f"evidence-{name}.svg").write_text(svg)
