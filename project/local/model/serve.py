"""Serve one model by llama.cpp until told to stop: the program behind `MODEL=`.

It listens at 127.0.0.1 and wants the key of its environment. It ends with its launcher, also where
no system would end it: then the launcher is not its parent any more.
"""

import argparse
import os
import sys
import time

import xllamacpp

from project.local.model.server import HOST, KEY

LOOK_SECONDS = 1.0


def main() -> None:
    """Load the model and serve it; end with one line where llama.cpp cannot."""
    parser = argparse.ArgumentParser()
    for name in ("file", "name"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("port", "slots", "context"):
        parser.add_argument(f"--{name}", type=int, required=True)
    options = parser.parse_args()
    launcher = os.getppid()
    try:
        server = xllamacpp.Server(parameters(options, os.environ[KEY]))
    except RuntimeError:  # what it is has been written by llama.cpp, in its words
        sys.exit(
            f"ERROR: llama.cpp cannot load {options.file}: the file is damaged, or of a kind of "
            "model that it does not know. The lines above say more."
        )
    print(f"{options.name} is served at {server.listening_address}", flush=True)
    while os.getppid() == launcher:
        time.sleep(LOOK_SECONDS)


def parameters(options: argparse.Namespace, key: str) -> xllamacpp.CommonParams:
    """Return what llama.cpp is told: one thread a slot, nothing of its own pages or memory."""
    told = xllamacpp.CommonParams()
    told.model.path = options.file
    told.model_alias = {options.name}
    told.hostnames, told.port, told.api_keys = [HOST], options.port, [key]
    told.n_parallel = told.cpuparams.n_threads = options.slots
    told.cpuparams.poll = 0  # who waits for work leaves its core to the web server and the worker
    told.n_ctx = options.slots * options.context  # of all slots together
    told.fit_params = False  # what fits was reckoned before, and told
    told.cache_ram_mib = 0  # the slots themselves remember what they read last
    told.use_jinja = True  # the model's own template, which knows its tools
    told.ui = told.endpoint_slots = False
    return told


if __name__ == "__main__":
    main()
