# Every target makes the virtual environment it needs; nothing but Python 3.11+ is needed before.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A module is compiled when it is first imported: most that are installed never are.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

.PHONY: demo chat dev test quick lint compiled check bench docs dist help
.DEFAULT_GOAL := demo

help:  ## this list
	@sed -nE 's/^([a-z]+):.*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 8

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(BIN)/python pyproject.toml
	$(PIP) --editable '.[chroma,cli,openai,web]'
	touch $@

$(VENV)/installed-dev: $(BIN)/python pyproject.toml
	$(PIP) --editable '.[dev]'
	touch $@ $(VENV)/installed

demo: $(VENV)/installed  ## a texted conversation, killed in the middle and taken up again; the same on two phones: langmem demo --web
	$(BIN)/python -m graphs.demo

chat: $(VENV)/installed  ## text the assistant yourself
	$(BIN)/python -m graphs.chat

dev: $(VENV)/installed-dev  ## LangGraph Studio's server with both assistants
	$(BIN)/langgraph dev --no-browser

# Each worker takes over half of what another has left, and costs four seconds of the processor before its first test.
# Of all the tests many wait, for PostgreSQL, for processes that are killed or for a browser; of the fast ones few do.
# What is compiled is kept for the next run.
ALL := --numprocesses 4 --dist worksteal
FAST := --numprocesses 3 --dist worksteal -m "not slow and not postgresql"
test quick check compiled: export PYTHONDONTWRITEBYTECODE :=

# The browser that the tests drive through the pages.
/usr/bin/chromium-headless-shell:
	apt-get update -qq && apt-get install --yes -qq --no-install-recommends chromium-headless-shell

# The pooler that they put in front of PostgreSQL; after the browser, since of two apt-get at once one fails.
/usr/sbin/pgbouncer: | /usr/bin/chromium-headless-shell
	apt-get update -qq && apt-get install --yes -qq --no-install-recommends pgbouncer

test: $(VENV)/installed-dev /usr/bin/chromium-headless-shell /usr/sbin/pgbouncer  ## all the tests: the rooms that store on both engines, the pages in a real browser
	$(BIN)/python -m pytest $(ALL)

quick: $(VENV)/installed-dev  ## the tests that need no PostgreSQL and wait for nothing
	$(BIN)/python -m pytest $(FAST)

compiled: $(VENV)/installed-dev  ## what the tests import, once: each worker would compile it for itself; what fails here the tests tell
	-@$(BIN)/python -m pytest --collect-only >/dev/null

lint: $(VENV)/installed-dev  ## style, types, layers, the size of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.house

check: lint  ## the same, and that the fast tests alone run 92 % of the lines
	$(BIN)/python -m pytest $(FAST) --cov --cov-report=

bench: $(VENV)/installed-dev  ## the benchmarks that need no data from outside
	$(BIN)/python -m benchmarks.imports
	$(BIN)/python -m benchmarks.conversation
	$(BIN)/python -m benchmarks.recall
	$(BIN)/python -m benchmarks.prompt_tokens

docs: $(VENV)/installed-dev  ## the documentation, into site/
	$(BIN)/python -m mkdocs build --strict

dist: $(VENV)/installed-dev  ## wheel and sdist into dist/, checked
	@! grep -n 'phone-memory\.example' pyproject.toml || { echo 'set the address of the repository in pyproject.toml first: nobody has phone-memory.example'; exit 1; }
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python -m pytest tests/test_distribution.py
