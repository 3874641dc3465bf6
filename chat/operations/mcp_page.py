"""The administrators' page of MCP servers: each one, its tools, and its last words on stderr."""

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.views.decorators.cache import never_cache

from agents.tools.setup import tool_setup
from chat.runs.servers_seen import seen


@never_cache
def mcp_servers(request: HttpRequest) -> HttpResponse:
    """Show the servers that are set up as the workers found them; none is called for it."""
    setup = tool_setup(settings.TOOL_ENVIRONMENT)
    told = {
        **admin.site.each_context(request),
        "title": "MCP servers",
        "problem": setup.mcp_problem,
        "servers": seen(setup.mcp_servers),
    }
    return TemplateResponse(request, "admin/mcp_servers.html", told)
