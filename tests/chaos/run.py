"""Kill everything at random while people ask and watch, then count what was lost: `make chaos`.

`SEED=`, `KILLS=`, `MINUTES=` and `RUNS=` set how; the same seed makes the same stories, strikes and
cuts, though not at the same instants. Ends with 1 if anything was lost, is there twice or has a
status that lies.
"""

import argparse
import os
import secrets
import sys
from pathlib import Path

import django

from tests.chaos.servers import servers
from tests.chaos.strikes import PARTS, plan

SETTINGS = {
    "WORKER_THREADS": "32",
    "TURNSTONE_LEASE_SECONDS": "4",
    "TURNSTONE_RUNS_PER_USER": "64",
}


def main() -> int:
    """Run one chaos and return the exit code."""
    options = _options()
    path = Path(options.log)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", buffering=1) as log, servers(SETTINGS, log) as running:
        os.environ.update(running.environment, DJANGO_SETTINGS_MODULE="project.settings")
        django.setup()
        from tests.chaos.scene import Scene  # it reads the models, which need the settings

        seconds = options.minutes * 60
        strikes = plan(options.seed, options.kills, seconds, options.parts.split(","))
        return Scene(options, running, log).play(strikes, seconds)


def _options() -> argparse.Namespace:
    told = os.environ
    parser = argparse.ArgumentParser(description=__doc__)
    seed = told.get("SEED") or secrets.randbelow(10**6)
    parser.add_argument("--seed", type=int, default=int(seed))
    parser.add_argument("--kills", type=int, default=int(told.get("KILLS") or 300))
    parser.add_argument("--minutes", type=float, default=float(told.get("MINUTES") or 6))
    parser.add_argument("--runs", type=int, default=int(told.get("RUNS") or 24))
    parser.add_argument("--parts", default=",".join(PARTS), help="who is struck")
    parser.add_argument("--life", type=float, default=6.0, help="seconds a socket lives, about")
    parser.add_argument("--log", default=".local/chaos.log", help="where the servers' words go")
    parser.add_argument("--verbose", action="store_true", help="tell of each strike")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
