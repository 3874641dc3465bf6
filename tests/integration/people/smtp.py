"""A mail server for tests: it takes what is sent, as far as RFC 5321 needs it, and keeps it."""

import socketserver
from email import message_from_bytes, policy
from email.message import EmailMessage


class _Conversation(socketserver.StreamRequestHandler):
    server: "MailServer"

    def handle(self) -> None:
        """Take one client's mails until it leaves."""
        self._say("220 a mail server for tests")
        while line := self.rfile.readline():
            match line[:4].strip().upper():
                case b"DATA":
                    self._say("354 go on")
                    self.server.mails.append(self._mail())
                    self._say("250 taken")
                case b"QUIT":
                    self._say("221 bye")
                    return
                case _:
                    self._say("250 yes")

    def _mail(self) -> EmailMessage:
        lines: list[bytes] = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        return message_from_bytes(b"".join(lines), policy=policy.default)

    def _say(self, words: str) -> None:
        self.wfile.write(f"{words}\r\n".encode())


class MailServer(socketserver.ThreadingTCPServer):
    """Listen on a port of its own; `mails` holds what came."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self.mails: list[EmailMessage] = []

    @property
    def port(self) -> int:
        """Return where it listens."""
        return int(self.server_address[1])
