"""A client of two replicas behind proxies: sessions stay with their replica, and survive the loss of the other one.

Usage: fleet.py TOKEN KILL REPLICA... PROXY...

REPLICA is CONTAINER=ADDRESS, such as a=http://10.0.0.2:8080. PROXY is NAME@ADDRESS. KILL is a command that kills the
container whose name follows it. Prints a row for each thing tried, and exits with 1 if one failed.
"""

import http.client
import json
import shlex
import subprocess
import sys
import threading
import urllib.parse

SESSIONS = 8
# ptrace(2), number 101 on x86_64, for which the sandbox ends programs.
FORBIDDEN = """let result: i64;
unsafe {
    std::arch::asm!("syscall", inout("rax") 101i64 => result, in("rdi") 0, in("rsi") 0, in("rdx") 0, in("r10") 0,
        out("rcx") _, out("r11") _)
};
result"""
LIMIT = 120
failed = False


def row(name, found, expected):
    """Prints the result of a trial."""
    global failed
    verdict = "ok" if found == expected else f"FAILED, expected: {expected}"
    failed |= found != expected
    print(f"{name:<68} {str(found):<34} {verdict}", flush=True)


class Reply:
    """A complete HTTP response."""

    def __init__(self, response):
        self.status = response.status
        self.session = response.getheader("Mcp-Session-Id")
        self.text = response.read().decode()

    def message(self):
        """The JSON-RPC response, of an event stream or a plain body."""
        lines = [line[6:] for line in self.text.splitlines() if line.startswith("data: {")]
        messages = [json.loads(line) for line in lines] or [json.loads(self.text)]
        return next(message for message in messages if "id" in message)


class Client:
    """A client at one address. Each request has its own connection, so that a proxy balances each of them."""

    def __init__(self, address, token):
        self.address = urllib.parse.urlsplit(address)
        self.token = token
        self.session = None

    def connection(self):
        """A connection to the address."""
        return http.client.HTTPConnection(self.address.hostname, self.address.port, timeout=LIMIT)

    def headers(self):
        """Headers of every request."""
        found = {
            "Host": "localhost",
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        return found | ({"Mcp-Session-Id": self.session} if self.session else {})

    def post(self, method, parameters=None, number=1, **more):
        """Sends a request, or a notification without a number."""
        body = {"jsonrpc": "2.0", "method": method, **({"id": number} if number else {})}
        body |= {"params": parameters} if parameters is not None else {}
        connection = self.connection()
        connection.request("POST", "/mcp", json.dumps(body), self.headers() | more)
        return Reply(connection.getresponse())

    def initialize(self):
        """Starts a session."""
        self.session = None
        reply = self.post("initialize", {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "fleet", "version": "1"},
        })
        self.session = reply.session
        if reply.status == 200:
            self.post("notifications/initialized", number=None)
        return reply.status

    def execute(self, code, **more):
        """Runs a snippet: its status and result, or the status of HTTP with the first line of the body."""
        reply = self.post("tools/call", {"name": "execute_code", "arguments": {"code": code}}, **more)
        if reply.status != 200:
            return f"{reply.status} {reply.text.splitlines()[0] if reply.text else ''}"
        outcome = reply.message()["result"]["_meta"]["io.toolsmith/outcome"]
        return f"{outcome['status']} {outcome['result']}"

    def end(self):
        """Ends the session."""
        connection = self.connection()
        connection.request("DELETE", "/mcp", headers=self.headers())
        return Reply(connection.getresponse()).status


def tier(client):
    """The tier of the sandbox that an execution reached."""
    reply = client.post("tools/call", {"name": "execute_code", "arguments": {"code": "1"}})
    return reply.message()["result"]["_meta"]["io.toolsmith/outcome"]["sandbox"]["tier"]


def owner(session, replicas, token):
    """The names of the replicas that know a session; a proxy may have appended something to the id."""
    found = []
    for name, address in replicas.items():
        client = Client(address, token)
        client.session = session[:36]
        if client.post("ping").status == 200:
            found.append(name)
    return "".join(found)


def stateless(client):
    """An execution of a client of MCP 2026-07-28, which has no session."""
    version = "2026-07-28"
    reply = client.post("tools/call", {
        "name": "execute_code",
        "arguments": {"code": "6 * 7"},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": {"name": "fleet", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }, **{"MCP-Protocol-Version": version, "Mcp-Method": "tools/call", "Mcp-Name": "execute_code"})
    if reply.status != 200:
        return f"{reply.status} {reply.text[:200]}"
    outcome = reply.message()["result"]["_meta"]["io.toolsmith/outcome"]
    return f"{outcome['status']} {outcome['result']}"


class Waiting:
    """An execution that does not end by itself, on another thread."""

    def __init__(self, client):
        self.reading = threading.Event()
        self.ending = None
        self.client = client
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        """Reads the answer until it breaks or ends."""
        code = "progress(0, 1, \"started\");\nloop { tokio::time::sleep(std::time::Duration::from_secs(1)).await; }"
        body = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {
            "name": "execute_code", "arguments": {"code": code}, "_meta": {"progressToken": "p"}}}
        connection = self.client.connection()
        try:
            connection.request("POST", "/mcp", json.dumps(body), self.client.headers())
            response = connection.getresponse()
            while line := response.readline():
                if b"started" in line:
                    self.reading.set()
                if b'"result"' in line:
                    self.ending = f"an answer: {line[:200]!r}"
                    return
            self.ending = "broken"
        except (http.client.HTTPException, OSError):
            self.ending = "broken"
        finally:
            self.reading.set()


def before(name, address, replicas, token):
    """Sessions through one proxy, and where they are."""
    clients = [Client(address, token) for _ in range(SESSIONS)]
    row(f"{name}: {SESSIONS} sessions", sorted({client.initialize() for client in clients}), [200])
    results = {client.execute(f"demo::echo(\"{step}\").await?.text()") for step in range(3) for client in clients}
    row("  3 executions in each", sorted(results), ["ok 0", "ok 1", "ok 2"])
    row("  their tier of the sandbox", sorted({tier(client) for client in clients}), ["landlock+seccomp"])
    owners = [owner(client.session, replicas, token) for client in clients]
    row("  each session is known to one replica, both have some", sorted(set(owners)) == sorted(replicas), True)
    row("  a client without sessions", stateless(Client(address, token)), "ok 42")
    return dict(zip(clients, owners))


def after(name, address, clients, lost, token):
    """The same sessions when a replica has gone."""
    kept = [client for client, owner in clients.items() if owner != lost]
    gone = [client for client, owner in clients.items() if owner == lost]
    row(f"{name}: sessions of the other replica", sorted({client.execute("1 + 1") for client in kept}), ["ok 2"])
    row("  sessions of the lost replica", sorted({client.execute("1 + 1") for client in gone}),
        ["404 Not Found: Session not found"])
    row("  their clients start new sessions", sorted({client.initialize() for client in gone}), [200])
    row("  and execute in them", sorted({client.execute("demo::echo(\"again\").await?.text()") for client in gone}),
        ["ok again"])
    row("  a program with a forbidden system call", gone[0].execute(FORBIDDEN), "sandbox_violation None")
    row("  a client without sessions", {stateless(Client(address, token)) for _ in range(4)}, {"ok 42"})
    row("  all sessions can be ended", sorted({client.end() for client in clients}), [204])


def main(arguments):
    """Tries everything; returns the exit code."""
    token, kill, *others = arguments
    replicas = dict(other.split("=", 1) for other in others if "=" in other)
    proxies = dict(other.split("@", 1) for other in others if "=" not in other)
    sessions = {name: before(name, address, replicas, token) for name, address in proxies.items()}
    lost = min(replicas)
    waiting = [
        Waiting(next(client for client, owner in clients.items() if owner == lost)) for clients in sessions.values()
    ]
    started = [each.reading.wait(LIMIT) for each in waiting]
    row("an execution runs on the replica that is killed, through each proxy", started, [True] * len(waiting))
    subprocess.run([*shlex.split(kill), lost], check=True, stdout=subprocess.DEVNULL)
    for each in waiting:
        each.thread.join(LIMIT)
    row("  kill -9 of the replica: the answers", sorted({each.ending for each in waiting}, key=str), ["broken"])
    for name, address in proxies.items():
        after(name, address, sessions[name], lost, token)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
