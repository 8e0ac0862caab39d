// @utcp/code-mode in front of one server. The package is a library, so this wraps it in an MCP server over stdio: one
// tool, described by the prompt that the package offers to models.
//
// The variable UPSTREAM contains the server's command and arguments as JSON.

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { CodeModeUtcpClient } from "@utcp/code-mode";
import "@utcp/mcp";

// The library logs to standard output, which belongs to the protocol here.
console.log = console.info = console.error;

const upstream = JSON.parse(process.env.UPSTREAM);
const client = await CodeModeUtcpClient.create(process.cwd(), null);
const config = { mcpServers: { upstream: { transport: "stdio", ...upstream } } };
await client.registerManual({ name: "bench", call_template_type: "mcp", config });

const tool = {
  name: "call_tool_chain",
  description: CodeModeUtcpClient.AGENT_PROMPT_TEMPLATE,
  inputSchema: { type: "object", properties: { code: { type: "string" } }, required: ["code"] },
};
const server = new Server({ name: "utcp-code-mode", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [tool] }));
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  const answer = await client.callToolChain(params.arguments.code);
  return { content: [{ type: "text", text: JSON.stringify(answer) }] };
});
await server.connect(new StdioServerTransport());
// The session with the upstream server would keep this process alive.
process.stdin.on("end", () => process.exit());
