"""What a request may weigh and how long it may take to come, whichever server takes it in."""

from django.conf import settings

MAX_BYTES: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
"""What Django would take: the longest question, every byte of it escaped, is half of that."""

REQUEST_SECONDS = 60
"""From the connection, or the end of the answer before, to the end of the request."""

LINGER_SECONDS = 5
"""How long the rest of a refused body is read and thrown away: a client that still sends would be
cut off before it has read the answer."""

MAX_MESSAGE_BYTES = 1024 * 1024
"""The largest message of a WebSocket; a question is far smaller, whatever it is written in."""

PING_SECONDS, PONG_SECONDS = 20, 30
"""How often a socket is asked whether it lives, and how long its answer may take."""

TOO_LARGE = f"This request is too large: Turnstone takes {MAX_BYTES / 1e6:.1f} MB at most.\n"
TOO_SLOW = "This request took too long to come.\n"
