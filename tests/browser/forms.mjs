// An MCP server over standard input and output whose one tool asks the user with a form, and returns the answer.

import { createInterface } from "node:readline";

const HOSTILE = "<script>alert(1)</script>\"'";
const FORM = {
  message: `${HOSTILE} How shall it be sent?`,
  requestedSchema: {
    type: "object",
    required: ["name", "speed"],
    properties: {
      name: { type: "string", title: `Name ${HOSTILE}`, description: HOSTILE },
      speed: { type: "string", enum: ["slow", HOSTILE], enumNames: ["Slow", HOSTILE] },
      days: {
        type: "array",
        items: { anyOf: [{ const: "mo", title: "Monday" }, { const: "tu", title: "Tuesday" }, { const: HOSTILE, title: HOSTILE }] },
        default: ["tu"],
      },
      count: { type: "integer", default: 3 },
      gift: { type: "boolean", title: "Is it a gift?" },
    },
  },
};

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const tool = { name: "ask", description: "Asks.", inputSchema: { type: "object" } };
let call = null;

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (id === "question") {
    const text = JSON.stringify(result ?? error);
    send({ id: call, result: { content: [{ type: "text", text }] } });
  } else if (method === "initialize") {
    const serverInfo = { name: "forms", version: "1" };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === "tools/list") {
    send({ id, result: { tools: [tool] } });
  } else if (method === "tools/call") {
    call = id;
    send({ id: "question", method: "elicitation/create", params: FORM });
  } else if (method === "ping") {
    send({ id, result: {} });
  } else if (id !== undefined) {
    send({ id, error: { code: -32601, message: "unknown method" } });
  }
});
