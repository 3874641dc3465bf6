# Turnstone's commands. `make` alone lists them. PYTHON= chooses the Python, PORT= and HOST= where to
# listen. All paths are relative, so that a folder with a space in its name will do.

PYTHON ?= python3
BIN = .venv/bin/python
ENVIRONMENT = "$(PYTHON)" -I project/local/environment.py

.DEFAULT_GOAL := help
.PHONY: help run environment environment-dev test test-postgres15 check format lock backup restore
.PHONY: bench-coroutines bench-engine bench-partitions bench-queue bench-runs bench-search
.PHONY: bench-slots bench-start bench-stop bench-stream chaos conformance mutants real-model replies

help: ## List the commands
	@awk 'BEGIN { FS = ":.*## " } /^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

run: environment ## Start everything and print where to sign in; Ctrl-C stops it (PORT=, HOST=, MODEL=)
	@exec $(BIN) -m project.local.start

environment: # What running needs
	@$(ENVIRONMENT) $(if $(MODEL),--local)

environment-dev: # What developing needs
	@$(ENVIRONMENT) --dev

check: environment-dev ## Look at form, lint, types, imports and migrations
	$(BIN) -m ruff format --check .
	$(BIN) -m ruff check .
	$(BIN) -m mypy
	.venv/bin/lint-imports
	$(BIN) tests/suite.py --form look
	$(BIN) -m project.local.throwaway $(BIN) manage.py makemigrations --check --dry-run

format: environment-dev ## Put the code in form
	$(BIN) -m ruff format .
	$(BIN) -m ruff check --fix .
	$(BIN) tests/suite.py --form mend

test: environment-dev ## Install what the suite needs and run all of it (ARGS= for pytest)
	@$(BIN) tests/suite.py $(ARGS)

test-postgres15: environment-dev ## Run the tests that touch the database on Postgres 15
	@$(BIN) tests/suite.py --postgres 15 $(ARGS)

backup: environment ## Save the whole record to one file while it is in use (FILE=)
	@$(BIN) -m project.ops.backup save "$(FILE)"

restore: environment ## Fill the empty database of DATABASE_URL from a backup (FILE=, FORGET_STREAMS=1)
	@$(BIN) -m project.ops.backup restore "$(FILE)" $(if $(FORGET_STREAMS),--forget-streams)

conformance: environment-dev ## Run case files of the source systems against the engine (CASES=folder)
	@$(BIN) -m tests.conformance.run $(if $(CASES),"$(CASES)")

replies: environment-dev ## Run files of model replies against the policies (CASES=folder, ARGS="--show 5")
	@$(BIN) -m tests.replies.run $(if $(CASES),"$(CASES)") $(ARGS)

chaos: environment-dev ## Kill everything at random and count what is lost (SEED=, KILLS=, MINUTES=, RUNS=)
	@SEED=$(SEED) KILLS=$(KILLS) MINUTES=$(MINUTES) RUNS=$(RUNS) $(BIN) -m tests.chaos.run

mutants: environment-dev ## Make small mistakes in the run machinery and see if its tests notice (SEED=, COUNT=, ONLY=)
	@SEED=$(SEED) COUNT=$(COUNT) ONLY=$(ONLY) nice $(BIN) -m tests.mutants.run

real-model: environment-dev ## Ask a small real model in every policy (COUNT=, SECONDS=, ONLY=, MODEL=)
	@$(ENVIRONMENT) --dev --local
	@COUNT=$(COUNT) SECONDS=$(SECONDS) ONLY=$(ONLY) MODEL="$(MODEL)" nice $(BIN) -m tests.real_model.run

bench-coroutines: environment-dev ## Measure a run as a coroutine against a run as a thread (N=, ROUNDS=)
	@$(BIN) tests/bench/coroutines.py

bench-engine: environment-dev ## Measure the CPU of a turn against the SDK and agent frameworks (ROUNDS=)
	@$(BIN) tests/bench/engine.py

bench-partitions: environment-dev ## Measure turns and calls in partitions of a month against whole tables
	@$(BIN) -m tests.bench.partitions

bench-queue: environment-dev ## Measure how long a worker takes to find which run is next
	@$(BIN) -m tests.bench.queue

bench-runs: environment-dev ## Measure many runs at once on one worker against the bare SDK (N=, ROUNDS=)
	@$(BIN) tests/bench/runs.py

bench-start: environment-dev ## Measure the cold and the warm start, and the memory at rest
	@$(BIN) tests/bench/start.py

bench-search: environment-dev ## Measure search on generated turns against the obvious query
	@$(BIN) -m tests.bench.search

bench-slots: environment-dev ## Measure what calls that wait in a pause of their server cost Valkey
	@$(BIN) -m tests.bench.slots

bench-stop: environment-dev ## Measure how long a stop takes wherever a run is (ROUNDS=, PHASES=)
	@$(BIN) tests/bench/stop.py

bench-stream: environment-dev ## Measure the live path against the raw floor and Chainlit
	@$(BIN) tests/bench/stream.py

lock: environment-dev ## Lock the dependencies of pyproject.toml anew
	$(BIN) -m uv pip compile -q --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-annotate --no-header pyproject.toml --extra s3 \
		-o requirements.lock
	$(BIN) -m uv pip compile -q --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-annotate --no-header pyproject.toml --extra s3 \
		--group dev -o requirements-dev.lock
	$(BIN) -c "import tomllib; project = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
		print(*project['optional-dependencies']['local'], sep='\n')" | \
		$(BIN) -m uv pip compile -q --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-annotate --no-header --no-deps -o requirements-local.lock -
