// An MCP server over stdio that speaks only MCP 2026-07-28, with the tool `echo`: it keeps nothing between requests.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const make = () => {
  const server = new McpServer({ name: "stateless", version: "1.0.0" });
  const inputSchema = z.object({ message: z.string() });
  server.registerTool("echo", { description: "Returns the message.", inputSchema }, async ({ message }) => ({
    content: [{ type: "text", text: `Echo: ${message}` }],
  }));
  return server;
};

serveStdio(make, { legacy: "reject" });
