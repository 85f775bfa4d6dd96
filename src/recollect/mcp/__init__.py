"""Recollect as an MCP server: the memory tools, resources and prompts for any MCP client."""
