// An MCP server over standard input and output whose texts try to run as scripts. FILE has the description of a tool,
// so that a test can change it.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [file] = process.argv.slice(2);
const SCRIPT = "<img src=x onerror=alert(1)><script>alert(1)</script>";

function tools() {
  const text = { type: "string", description: SCRIPT, title: SCRIPT, enum: [SCRIPT, "\"><script>alert(1)</script>"] };
  const inputSchema = {
    type: "object",
    required: [SCRIPT],
    properties: { [SCRIPT]: text, choice: { anyOf: [{ const: SCRIPT }, { $ref: "#/$defs/A" }] } },
    $defs: { A: { type: "array", items: { type: "string", format: SCRIPT }, description: SCRIPT } },
  };
  const outputSchema = { type: "object", properties: { [SCRIPT]: { type: "string" } } };
  const description = readFileSync(file, "utf8");
  return [
    { name: "hostile", title: SCRIPT, description, inputSchema, outputSchema },
    { name: SCRIPT, description: SCRIPT, inputSchema: { type: "object" } },
  ];
}

function answer({ method, params }) {
  if (method === "initialize") {
    const serverInfo = { name: SCRIPT, version: SCRIPT };
    return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo, instructions: SCRIPT };
  }
  if (method === "tools/list") return { tools: tools() };
  return {};
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.id === undefined) continue;
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, result: answer(message) })}\n`);
}
