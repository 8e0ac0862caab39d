"""Horizontal bars as SVG, which follow the reader's light or dark colours."""

from dataclasses import dataclass
from html import escape
from typing import Any

Json = Any
WIDTH, LABEL, LINE, BAR = 760, 250, 22, 14
STYLE = """text { font: 13px sans-serif; fill: #1f2328 } .title { font-weight: 600 } .group { font-weight: 600 }
.other { fill: #8c959f } .ours { fill: #0969da }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .other { fill: #6e7681 } .ours { fill: #4493f8 } }"""


@dataclass
class Bar:
    label: str
    value: float
    text: str
    ours: bool


def bars(title: str, groups: dict[str, list[Bar]]) -> str:
    """Bars of each group are relative to the longest of the group."""
    parts, y = [], 24
    for name, found in groups.items():
        y += LINE
        parts.append(f'<text class="group" x="0" y="{y}">{escape(name)}</text>')
        longest = max(bar.value for bar in found) or 1
        for bar in found:
            y += LINE
            parts.append(drawn(bar, y, (WIDTH - LABEL - 120) * bar.value / longest))
        y += 6
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 10}" role="img">\n'
            f'<title>{escape(title)}</title>\n<style>{STYLE}</style>\n'
            f'<text class="title" x="0" y="16">{escape(title)}</text>\n' + "\n".join(parts) + "\n</svg>\n")


def drawn(bar: Bar, y: int, length: float) -> str:
    kind = "ours" if bar.ours else "other"
    return (f'<text x="12" y="{y}">{escape(bar.label)}</text>'
            f'<rect class="{kind}" x="{LABEL}" y="{y - BAR + 2}" width="{max(length, 1):.1f}" height="{BAR}" rx="2"/>'
            f'<text x="{LABEL + max(length, 1) + 6:.1f}" y="{y}">{escape(bar.text)}</text>')


def replays(results: Json) -> str:
    groups: dict[str, list[Bar]] = {}
    for one in results["replays"]:
        name = one["benchmark"] + (", attacker" if one["kind"] != "user" else "")
        groups.setdefault(name, []).append(
            Bar(f"{one['mode']}, {one['form']}", one["states"], f"{one['states']} of {one['tasks']}", True))
    return bars("Gold solutions that end in the benchmark's own final state", groups)


def tokens(results: Json) -> str:
    groups = {}
    for one in results["tokens"]:
        groups[f"{one['benchmark']} {one['part']}, {round(one['tools'])} tools"] = [
            Bar(way, cost["read_cached"], f"{round(cost['read_cached'])}", way.startswith("code"))
            for way, cost in one["ways"].items()]
    return bars("Tokens that a model reads for a task, with a prompt cache at its prices", groups)


def attacks(results: Json) -> str:
    found = results["attacks"]["with calls"]
    return bars("Injections whose goal needs a call and that succeed if the model obeys", {
        f"of {found['pairs']} pairs": [
            Bar(way, one["attacks"], f"{one['attacks']} ({100 * one['attacks'] / found['pairs']:.0f} %)",
                way in ("second", "extended")) for way, one in found["ways"].items()]})


def charts(results: Json) -> dict[str, str]:
    return {"replays": replays(results), "tokens": tokens(results), "attacks": attacks(results)}
