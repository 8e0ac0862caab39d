"""Writes a gold solution as one snippet, in one of several forms, and says what its result must be."""

from dataclasses import dataclass, field
from typing import Any

import rust
from benchmarks.kind import Benchmark, Call, Failed, Gold
from flow import Flow

Json = Any
FORMS = {
    "functions": "calls as functions; the program returns all results",
    "structs": "calls as structs with named fields",
    "sloppy": "structs with what models forget: `.into()`, `Some`, `None`, the decimal point",
    "flow": "literals that are in an earlier result become typed accesses to it",
    "brief": "as *flow*, but the program returns only the values that the final answer to the user needs",
}


@dataclass
class Program:
    # One line for each call.
    lines: list[str] = field(default_factory=list)
    # The expressions that the program returns.
    shown: list[str] = field(default_factory=list)
    # The results of the calls.
    expected: list[Json | Failed] = field(default_factory=list)
    # Why no typed program can make the gold solution's calls.
    faults: list[str] = field(default_factory=list)
    # Arguments that are accesses to an earlier result.
    accesses: int = 0

    @property
    def code(self) -> str:
        return written(self.lines, self.shown)

    def part(self, numbers: list[int]) -> str:
        """A program of some of the calls, which returns their results."""
        return written([self.lines[number] for number in numbers], [f"r{number + 1}" for number in numbers])


def written(lines: list[str], shown: list[str]) -> str:
    return "\n".join([*lines, f"json!([{', '.join(shown)}])"]) + "\n"


class Writer:
    """Writes the programs of a benchmark in one mode."""

    def __init__(self, benchmark: Benchmark, mode: str) -> None:
        self.benchmark, self.mode = benchmark, mode
        self.tools = {(server, tool["name"]): tool for server in benchmark.servers
                      for tool in benchmark.definitions(server, mode)}

    def write(self, task: str, gold: Gold, form: str) -> Program:
        calls = self.benchmark.gold(task)
        program, flow = Program(), Flow(self.benchmark.prompt(task))
        for number, (call, raw) in enumerate(zip(calls, gold.results), 1):
            tool, result = self.tools[call.server, call.tool], self.benchmark.expected(call, raw, self.mode)
            program.faults += [f"{call.tool}: {fault}" for fault in rust.undeclared(call, tool["inputSchema"])]
            accesses = flow.written(call, tool["inputSchema"]) if form in ("flow", "brief") else {}
            program.accesses += len(accesses)
            program.expected.append(result)
            text = self.call(call, form, accesses) + ending(result, "outputSchema" in tool)
            program.lines.append(f"let r{number} = {text};")
            program.shown.append(f"r{number}")
            if "outputSchema" in tool and not isinstance(result, Failed):
                flow.add(f"r{number}", result, tool["outputSchema"])
        if form == "brief":
            program.shown = flow.mentioned(self.benchmark.needed(task))
        return program

    def call(self, call: Call, form: str, accesses: dict[str, str]) -> str:
        schema = self.tools[call.server, call.tool]["inputSchema"]
        if form in ("structs", "sloppy"):
            return rust.struct_call(call, schema, form == "sloppy")
        return rust.function_call(call, schema, accesses)


def ending(result: Json | Failed, typed: bool) -> str:
    """Reads the result of a call, which may be a failure, a text, or JSON as text."""
    if isinstance(result, Failed):
        return ".await.map_err(|error| error.message)" if typed else \
            ".await.map(|result| result.text()).map_err(|error| error.message)"
    if typed:
        return ".await?"
    if isinstance(result, str):
        return ".await?.text()"
    return ".await?.json::<Vec<Value>>()?" if isinstance(result, list) else ".await?.json::<Value>()?"
