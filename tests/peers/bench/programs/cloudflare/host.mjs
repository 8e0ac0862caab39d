// @cloudflare/codemode in front of one server: the Worker runs in workerd, and this process is an MCP server over
// stdio that forwards to it. It also holds the session with the upstream server, because a Worker cannot start
// processes.
//
// The variable UPSTREAM contains the server's command and arguments as JSON.

import { fileURLToPath } from "node:url";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, CallToolResultSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { build } from "esbuild";
import { Miniflare } from "miniflare";

const upstream = new Client({ name: "codemode", version: "1.0.0" });
await upstream.connect(new StdioClientTransport(JSON.parse(process.env.UPSTREAM)));

const upstreamMethods = {
  listTools: (params) => upstream.listTools(params),
  // The SDK's `callTool` checks results against output schemas, which `codeMcpServer` ignores.
  callTool: (params) => upstream.request({ method: "tools/call", params }, CallToolResultSchema),
};

const bundle = await build({
  entryPoints: [fileURLToPath(new URL("worker.mjs", import.meta.url))],
  bundle: true,
  write: false,
  format: "esm",
  platform: "neutral",
  mainFields: ["module", "main"],
  conditions: ["workerd", "worker", "import"],
  external: ["node:*", "cloudflare:*"],
});
const worker = new Miniflare({
  modules: true,
  script: bundle.outputFiles[0].text,
  compatibilityDate: "2026-07-01",
  compatibilityFlags: ["nodejs_compat"],
  workerLoaders: { LOADER: {} },
  serviceBindings: {
    UPSTREAM: async (request) => {
      const { method, params } = await request.json();
      return Response.json(await upstreamMethods[method](params));
    },
  },
});

async function ask(method, params) {
  const body = JSON.stringify({ method, params });
  const response = await worker.dispatchFetch("http://codemode/", { method: "POST", body });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

const tools = await ask("listTools", {});
const server = new Server({ name: "codemode", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => tools);
server.setRequestHandler(CallToolRequestSchema, ({ params }) => ask("callTool", params));
await server.connect(new StdioServerTransport());

process.stdin.on("end", async () => {
  await Promise.allSettled([worker.dispose(), upstream.close()]);
  process.exit();
});
