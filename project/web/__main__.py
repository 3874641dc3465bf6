"""Serve the pages and the live protocol: `python -m project.web --host 127.0.0.1 --port 8000`.

TURNSTONE_SERVER says by which server: daphne, or uvicorn at about half the CPU. Both run on uvloop
where there is a wheel of it, and both keep the bounds of `project.web.limits`.
"""

import argparse
import asyncio
import os
import socket
import sys
from importlib.util import find_spec

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")


def main() -> int:
    """Serve until a signal comes; return the exit code."""
    options = _options()
    if find_spec("uvloop") is not None:
        import uvloop

        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())

    from django.conf import settings

    if settings.SERVER == "uvicorn":
        from project.asgi import application  # before all that needs its models
        from project.web import uvicorn_server

        try:
            listening = _listening(options)
        except OSError as error:
            print(f"turnstone: cannot listen there: {error}", file=sys.stderr)
            return 1
        uvicorn_server.serve(application, listening)
    else:
        from project.web import daphne_server

        bind = ["-b", options.host, "-p", str(options.port)]
        daphne_server.serve(["--fd", str(options.fd)] if options.fd is not None else bind)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m project.web", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at")
    parser.add_argument("--port", type=int, default=8000, help="the port to listen at")
    parser.add_argument("--fd", type=int, help="a socket that was handed over and listens already")
    return parser.parse_args()


def _listening(options: argparse.Namespace) -> socket.socket:
    if options.fd is not None:
        return socket.socket(fileno=options.fd)
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    return socket.create_server((options.host, options.port), family=family, backlog=2048)


if __name__ == "__main__":
    sys.exit(main())
