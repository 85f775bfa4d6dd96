.DEFAULT_GOAL := help
.PHONY: help dist setup serve test test-files test-mysql test-servers coverage test-databases docs adapters adapter-environments lint lint-style lint-types format soak test-api attack bench bench-peers training-smoke lock upgrade clean console system-packages screenshots console-bench

# Paths stay relative, so that a clone in a folder with spaces works.
BIN := .venv/bin
BENCH_DATA ?= ../shared/bench
# Arguments for `make bench-peers`, such as PEERS="--sizes 1000 --rounds 1 chroma recollect".
PEERS ?=
# What `make test` runs on a database server; `make test-databases` runs everything on both. Who may
# see what is decided by statements that the contracts hold for each, so its story is told on one.
ON_SERVERS := tests/contract tests/databases $(addprefix tests/journeys/test_,an_agent_with_its_own_store.py nothing_acknowledged_is_lost.py remembering_across_sessions.py sharing.py two_processes.py who_sees_what.py)
ON_MARIADB := tests/contract tests/databases $(addprefix tests/journeys/test_,nothing_acknowledged_is_lost.py two_processes.py) --ignore tests/databases/test_workers.py

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

setup: ## make .venv match requirements.lock (instant when it does)
	@sh tools/setup.sh dev

serve: ## start the server and the console on 127.0.0.1:7077
	@sh tools/setup.sh serve
	@$(BIN)/python tools/console.py build
	@$(BIN)/recollect serve

test: lint-style adapter-environments system-packages ## everything a change must pass: lint, types, layers, tests
	@$(MAKE) --no-print-directory -j 2 test-files test-mysql test-servers

# Two at a time, which take about as long: a test of either often waits, for a server, a browser or
# another process.
test-files:
	@sh tools/run_tests.sh 2 --ignore tests/console

test-mysql: test-files
	@sh tools/run_tests.sh 2 --database mysql $(ON_MARIADB)

test-servers: lint-types
	@mkdir -p reports
	@{ $(BIN)/python tools/console.py check && \
	   $(BIN)/python tools/console.py test && \
	   $(MAKE) --no-print-directory docs && \
	   sh tools/run_tests.sh 1 tests/console && \
	   sh tools/run_tests.sh 1 --database postgresql $(ON_SERVERS); } >reports/test-servers.log 2>&1; \
	  status=$$?; cat reports/test-servers.log; exit $$status

coverage: setup ## which lines of the package the tests reach
	$(BIN)/pytest -n 2 --dist worksteal --cov --cov-report=term --ignore tests/console

test-databases: adapter-environments console system-packages ## every test that stores something on PostgreSQL and MariaDB, contracts on a journal
	@sh tools/run_tests.sh 2 --database json tests/contract
	@sh tools/run_tests.sh 2 --database postgresql --ignore tests/console --ignore tests/unit
	@sh tools/run_tests.sh 2 --database postgresql tests/console
	@sh tools/run_tests.sh 2 --database mysql --ignore tests/console --ignore tests/unit
	@sh tools/run_tests.sh 2 --database mysql tests/console

lint: lint-style lint-types ## format check, ruff, import-linter, pyright strict, oxlint, known vulnerabilities

# What takes seconds.
lint-style: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo --no-cache

lint-types: setup
	NODE_OPTIONS=--max-semi-space-size=64 $(BIN)/pyright
	@$(BIN)/python tools/console.py lint
	@$(BIN)/python tools/audit_dependencies.py

dist: ## the two wheels, recollect and recollect-embedder, in dist/
	@sh tools/setup.sh serve
	@$(BIN)/python tools/dist.py

console: setup ## build the console into the package, if its sources changed; git has the result
	@$(BIN)/python tools/console.py build

system-packages: ## see that the browser and the database server of the tests are there
	@sh tools/system_packages.sh

screenshots: console system-packages ## every page of the console, in screenshots/
	@PYTHONPATH=. $(BIN)/python tools/screenshots.py

console-bench: console system-packages ## how fast the console is with 10,000 and 100,000 records
	@PYTHONPATH=. $(BIN)/python tools/console_bench.py

format: setup ## format and fix what can be fixed safely
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

adapter-environments: ## the environments of the frameworks whose adapters are tested, and an S3 server
	@sh tools/setup.sh adapter langgraph
	@sh tools/setup.sh server seaweedfs

adapters: setup ## the adapters that `make test` leaves out, each in an environment of its own
	$(BIN)/pytest -m adapters tests/integration

soak: setup ## long durability runs; writes reports/*.json
	@mkdir -p reports
	@sh tools/setup.sh server milvus
	$(BIN)/pytest -m soak --timeout 7200
	$(BIN)/pytest tests/properties --hypothesis-profile searching
	@sh tools/setup.sh server seekdb
	$(BIN)/pytest --database seekdb -m "not adapters" --timeout 7200 $(ON_SERVERS)

test-api: setup ## generated requests to a real server, by schemathesis in its own environment
	@sh tools/test_api.sh

attack: setup ## attack a server of one's own on the loopback address, and tell what gave way
	@$(BIN)/python tools/attack.py

bench: setup ## recall quality on every set in BENCH_DATA
	$(BIN)/recollect bench recall --suite "$(BENCH_DATA)"

bench-peers: setup ## Recollect beside mem0, LangGraph, LlamaIndex, Chroma, LanceDB, sqlite-vec, numpy; writes docs/benchmarks*
	@$(BIN)/python benchmarks/peers.py --docs $(if $(wildcard $(BENCH_DATA)),--sets "$(BENCH_DATA)") $(PEERS)

docs: setup ## build the documentation site into site/, with every link checked
	@sh tools/setup.sh docs
	@PYTHONPATH=. $(BIN)/python tools/write_reference.py
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --quiet
	@echo "built site/index.html"

training-smoke: ## ten steps of the models' recipe on the processor, in training/.venv (needs torch)
	@sh tools/setup.sh training
	@PYTHONPATH=src:. training/.venv/bin/python -m training.smoke

lock: ## write requirements.lock anew from pyproject.toml, keeping versions that still fit
	@sh tools/setup.sh lock

upgrade: ## the same with the newest versions
	@sh tools/setup.sh lock --upgrade

clean: ## remove everything that make made
	rm -rf .venv .venv-docs .tools site docs/reference/[!i]*.md docs/project tests/adapters/.venv-* tests/adapters/.sources-* tests/databases/.venv-* training/.venv .hypothesis .pytest_cache .ruff_cache .coverage build dist reports web/node_modules screenshots
