"""A process that takes and gives back a slot, as it is told."""

import os
import subprocess
import sys

from django.conf import settings

from agents.model.slots import Quota

WORKER = """
import sys
from redis import Redis
from agents.control import Control
from agents.model.slots import Quota
from chat.runs.worker.slots import RedisSlots

url, name, limit, lease = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
slots, quota = RedisSlots(Redis.from_url(url), lease_ms=lease), Quota(name, limit)
print("ready", flush=True)
for line in sys.stdin:
    if line.strip() == "acquire":
        ticket = slots.acquire(quota, Control(60))
        print("got", flush=True)
    else:
        slots.release(quota, ticket)
        print("gave", flush=True)
"""


class Worker:
    """A worker process that takes and gives back one slot, as it is told."""

    def __init__(self, quota: Quota, lease_ms: int = 30_000) -> None:
        arguments = [settings.REDIS_URL, quota.name, str(quota.limit), str(lease_ms)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=settings.BASE_DIR,
            env=os.environ,
        )
        assert self.says() == "ready"

    def tell(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def says(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def end(self) -> None:
        self.process.kill()
        self.process.wait(10)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()
