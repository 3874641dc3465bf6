"""Ours with native calls: the native policy on the one loop, with the real provider."""

from tests.bench.engine_drivers.measured import serve
from tests.bench.engine_drivers.turnstone import natively

if __name__ == "__main__":
    serve(natively)
