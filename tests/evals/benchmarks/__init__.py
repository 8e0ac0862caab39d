"""Public benchmarks of agents: their tasks, gold solutions, tools as MCP servers, and their own checks."""

import importlib

from benchmarks.kind import Benchmark


def load(name: str) -> Benchmark:
    """Imports a benchmark (`agentdojo`, `bfcl` or `tau2`), which takes seconds."""
    return importlib.import_module(f"benchmarks.{name}").BENCHMARK
