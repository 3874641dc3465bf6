"""The ASGI application: pages over HTTP, live runs over WebSockets."""

import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")

from django.core.asgi import get_asgi_application

http = get_asgi_application()

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.sessions import CookieMiddleware  # noqa: E402

from chat.live.origin import OwnPagesOnly  # noqa: E402
from chat.live.routing import websocket_urlpatterns  # noqa: E402
from project.ops.access import logged  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": logged(http),
        "websocket": logged(OwnPagesOnly(CookieMiddleware(URLRouter(websocket_urlpatterns)))),
    }
)
if "daphne.server" in sys.modules:  # whoever started it
    from project.web import daphne_server

    daphne_server.bound()
