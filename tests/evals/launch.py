"""Started by Toolsmith as an MCP server: hands its standard input, output and error to the running factory
(sessions.py), which forks a server that has its imports done, and waits until that server ends.

Usage: python -S -E launch.py SOCKET SERVER
"""

import os
import socket
import sys

connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
connection.connect(sys.argv[1])
socket.send_fds(connection, [sys.argv[2].encode()], [0, 1, 2])
os.close(0)
os.close(1)
while connection.recv(64):
    pass
