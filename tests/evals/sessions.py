"""Sessions of a benchmark's MCP servers. Each is a process of its own, forked from one that has its imports done, and
records its calls and its final environment.

A session reads its task at its first call, because Toolsmith opens spare sessions before it needs them, and again when
another one is assigned, because other implementations keep one session."""

import ctypes
import json
import os
import pickle
import signal
import socket
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from mcp.server.stdio import stdio_server

from benchmarks.kind import Benchmark, Call, Json

# PR_SET_PDEATHSIG of Linux.
DIE_WITH_PARENT = 1


@dataclass
class Assignment:
    """What sessions that begin now work on."""

    task: str
    injections: dict[str, str] = field(default_factory=dict)
    # Environments that an earlier program of the same task left.
    before: dict[str, Any] = field(default_factory=dict)


@dataclass
class Record:
    """The calls that tools received, their errors, and the environments afterwards."""

    calls: list[Call] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    after: dict[str, Any] = field(default_factory=dict)


class Folder:
    """Passes assignments to sessions, and records back."""

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.path = path

    def assign(self, assignment: Assignment) -> None:
        for file in self.path.iterdir():
            file.unlink()
        (self.path / "assignment").write_bytes(pickle.dumps(assignment))

    def stamp(self) -> int:
        """Changes with each assignment."""
        return (self.path / "assignment").stat().st_mtime_ns

    def assignment(self) -> Assignment:
        return pickle.loads((self.path / "assignment").read_bytes())

    def add(self, server: str, tool: str, arguments: Json, error: str | None, environment: Any) -> None:
        with open(self.path / "calls", "a") as file:
            file.write(json.dumps([server, tool, arguments, error]) + "\n")
        (self.path / f"after-{server}").write_bytes(pickle.dumps(environment))

    def record(self) -> Record:
        record = Record()
        if (self.path / "calls").exists():
            for line in (self.path / "calls").read_text().splitlines():
                server, tool, arguments, error = json.loads(line)
                record.calls.append(Call(server, tool, arguments))
                record.errors += [error] if error else []
        for file in self.path.glob("after-*"):
            record.after[file.name.removeprefix("after-")] = pickle.loads(file.read_bytes())
        return record


class Session:
    """Answers the calls of one session."""

    def __init__(self, benchmark: Benchmark, server: str, folder: Folder) -> None:
        self.benchmark, self.server, self.folder = benchmark, server, folder
        self.environment: Any = None
        self.stamp = 0

    def answer(self, tool: str, arguments: dict[str, Json]) -> Any:
        if self.stamp != self.folder.stamp():
            self.stamp, work = self.folder.stamp(), self.folder.assignment()
            if self.server in work.before:
                self.environment = self.benchmark.restored(work.task, work.before[self.server])
            else:
                self.environment = self.benchmark.environment(work.task, self.server, work.injections)
        received, failure = self.benchmark.plain(arguments), None
        try:
            return self.benchmark.invoke(self.environment, self.server, tool, arguments)
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"
            raise
        finally:
            self.folder.add(self.server, tool, received, failure, self.benchmark.snapshot(self.environment))


async def serve_stdio(server: Any) -> None:
    if hasattr(server, "run_stdio_async"):
        await server.run_stdio_async()
        return
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def serve(benchmark: Benchmark, server: str, mode: str, folder: Folder) -> None:
    session = Session(benchmark, server, folder)
    anyio.run(serve_stdio, benchmark.mcp_server(server, mode, session.answer))


class Factory:
    """A process that forks a session for each connection of launch.py."""

    def __init__(self, benchmark: Benchmark, mode: str, folder: Folder, address: Path) -> None:
        self.address = address
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(address))
        listener.listen(64)
        self.process = os.fork()
        if self.process == 0:
            ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            while True:
                accept(listener, benchmark, mode, folder)
        listener.close()

    def command(self, server: str) -> dict[str, Json]:
        """The entry of a server in Toolsmith's configuration."""
        launch = str(Path(__file__).with_name("launch.py"))
        arguments = ["-S", "-E", launch, str(self.address), server]
        return {"type": "stdio", "command": sys.executable, "args": arguments}

    def end(self) -> None:
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)


def accept(listener: socket.socket, benchmark: Benchmark, mode: str, folder: Folder) -> None:
    connection, _ = listener.accept()
    message, files, _, _ = socket.recv_fds(connection, 256, 3)
    if len(files) == 3 and os.fork() == 0:
        try:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            adopt(files)
            serve(benchmark, message.decode(), mode, folder)
        finally:
            os._exit(0)
    for file in files:
        os.close(file)
    connection.close()


def adopt(files: list[int]) -> None:
    """Makes these the standard input, output and error."""
    for standard, file in enumerate(files):
        os.dup2(file, standard)
        os.close(file)
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0, "r"), os.fdopen(1, "w"), os.fdopen(2, "w")
