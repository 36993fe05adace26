# Every target makes its own virtual environment first; nothing but Python 3.11+ is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo chat test check bench dev
.DEFAULT_GOAL := demo

$(VENV)/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: $(VENV)/installed  ## a texted conversation, killed in the middle and taken up again
	$(BIN)/python -m graphs.demo

chat: $(VENV)/installed  ## text the assistant yourself
	$(BIN)/python -m graphs.chat

test: $(VENV)/installed  ## all the tests
	$(BIN)/python -m pytest

check: $(VENV)/installed  ## lint, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

dev: $(VENV)/installed  ## LangGraph Studio's server with both graphs
	$(BIN)/langgraph dev --no-browser

bench: $(VENV)/installed  ## every benchmark that needs no data from outside
	$(BIN)/python -m benchmarks.imports
	$(BIN)/python -m benchmarks.conversation
	$(BIN)/python -m benchmarks.recall
