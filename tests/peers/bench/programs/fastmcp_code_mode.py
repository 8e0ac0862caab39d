"""FastMCP's code mode in front of one server, as its documentation sets it up: an MCP server over stdio.

The variable UPSTREAM contains the server's command and arguments as JSON.
"""

import json
import os

from fastmcp.experimental.transforms.code_mode import CodeMode
from fastmcp.server import create_proxy

upstream = json.loads(os.environ["UPSTREAM"])
server = create_proxy({"mcpServers": {"upstream": upstream}}, name="code mode")
server.add_transform(CodeMode())
server.run(transport="stdio", show_banner=False)
