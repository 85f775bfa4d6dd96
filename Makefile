.DEFAULT_GOAL := help
.PHONY: help setup serve test lint format soak bench lock upgrade clean

# Paths stay relative, so that a clone in a folder with spaces works.
BIN := .venv/bin
BENCH_DATA ?= ../shared/bench

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

setup: ## make .venv match requirements.lock (instant when it does)
	@sh tools/setup.sh dev

serve: ## start the server on 127.0.0.1:7077
	@sh tools/setup.sh serve
	@$(BIN)/recollect serve

test: lint ## everything a change must pass: lint, types, layers, tests with coverage
	$(BIN)/pytest -n 2 --dist worksteal --cov --cov-report=term

lint: setup ## format check, ruff, pyright strict, import-linter
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports --no-logo --no-cache

format: setup ## format and fix what can be fixed safely
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

soak: setup ## long durability runs; writes reports/*.json
	@mkdir -p reports
	$(BIN)/pytest -m soak

bench: setup ## recall quality on every set in BENCH_DATA
	$(BIN)/recollect bench recall --suite "$(BENCH_DATA)"

lock: ## write requirements.lock anew from pyproject.toml, keeping versions that still fit
	@sh tools/setup.sh lock

upgrade: ## the same with the newest versions
	@sh tools/setup.sh lock --upgrade

clean: ## remove everything that make made
	rm -rf .venv .tools .hypothesis .pytest_cache .ruff_cache .coverage build dist reports
