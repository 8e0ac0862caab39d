// The Worker: `codeMcpServer` of @cloudflare/codemode with its executor for dynamic Workers. Its upstream MCP server
// forwards to the host.

import { DynamicWorkerExecutor } from "@cloudflare/codemode";
import { codeMcpServer } from "@cloudflare/codemode/mcp";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

let listing;

async function upstream(env, method, params) {
  const body = JSON.stringify({ method, params });
  const response = await env.UPSTREAM.fetch("http://upstream/", { method: "POST", body });
  return response.json();
}

// The SDK compiles output schemas to JavaScript, which Workers do not allow; `codeMcpServer` ignores these schemas.
async function list(env) {
  const { tools } = await upstream(env, "listTools", {});
  return { tools: tools.map(({ outputSchema, ...tool }) => tool) };
}

export default {
  // A Worker cannot share connections between requests, so each request has its own server.
  async fetch(request, env) {
    const { method, params } = await request.json();
    listing ??= await list(env);
    const server = new Server({ name: "upstream", version: "1.0.0" }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => listing);
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => upstream(env, "callTool", params));
    const executor = new DynamicWorkerExecutor({ loader: env.LOADER });
    const codemode = await codeMcpServer({ server, executor });
    const [near, far] = InMemoryTransport.createLinkedPair();
    await codemode.connect(far);
    const client = new Client({ name: "bench", version: "1.0.0" });
    await client.connect(near);
    return Response.json(await client[method](params));
  },
};
