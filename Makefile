# make lab    JupyterLab on the quickstart          make test   every check there is
# Both set up what they need, on Debian with Python 3.10+, Node 20+ and make; again, they redo only what changed.

PYTHON ?= python3
LAB_ARGS ?=
PYTEST_ARGS ?=

BIN := .venv/bin
VENV := .venv/pyvenv.cfg
INSTALLED := .venv/.installed
NODE_MODULES := js/node_modules/.package-lock.json
BUNDLE := jupyter_applets/widget/static/applet.js
# With the folders, because removing a file changes only those.
JS_SOURCES := $(shell find js/src js/build.mjs js/tsconfig.json 2>/dev/null)
SERVER_CONFIG := $(shell find jupyter_applets/server/jupyter_server_config.d 2>/dev/null)

# $(call apt,packages): install Debian packages, or say which ones are missing.
apt = if ! command -v apt-get >/dev/null; then echo "Please install: $(1)" >&2; exit 1; fi; \
	sudo=; if [ "$$(id -u)" != 0 ]; then sudo=sudo; fi; \
	$$sudo apt-get update -q && \
	$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $(1)

.DELETE_ON_ERROR:
.PHONY: help lab test lint types tsc vitest js pytest chromium bench protocol test-kernels build clean

help: ## show this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# ── what a person runs ────────────────────────────────────────────────────────────────────────────────────────────────

lab: $(INSTALLED) $(BUNDLE) ## open JupyterLab on the quickstart
	@set -- --LabApp.default_url=/lab/tree/notebooks/quickstart.ipynb; \
	if [ "$$(id -u)" = 0 ]; then set -- "$$@" --allow-root; fi; \
	if [ "$$(uname)" != Darwin ] && { [ -z "$$DISPLAY$$WAYLAND_DISPLAY" ] || ! command -v xdg-open >/dev/null; }; then \
		echo "No browser here: open the URL below."; set -- "$$@" --no-browser; \
	fi; \
	exec $(BIN)/jupyter lab "$$@" $(LAB_ARGS)

test: lint types tsc vitest pytest ## run every check: ruff, mypy, tsc, vitest, pytest with the browser tests

lint: $(INSTALLED) ## ruff
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(INSTALLED) ## mypy
	$(BIN)/mypy

js: tsc vitest $(BUNDLE) ## check, test and build the JavaScript

tsc: $(NODE_MODULES)
	cd js && npm run --silent typecheck

vitest: $(NODE_MODULES)
	cd js && npm run --silent test

pytest: $(INSTALLED) $(BUNDLE) chromium ## pytest, with PYTEST_ARGS
	$(BIN)/pytest $(PYTEST_ARGS)

bench: $(INSTALLED) $(BUNDLE) chromium ## measure, and print the table of figures
	$(BIN)/python -m tests.bench

test-kernels: $(INSTALLED) $(BUNDLE) ## what works per ipykernel version; the tests keep an environment each in .venvs/
	$(BIN)/pytest tests/kernels -m kernels $(PYTEST_ARGS)

protocol: $(INSTALLED) ## generate the TypeScript types of the messages
	$(BIN)/python -m jupyter_applets.protocol.schema js/src/protocol.gen.ts

build: $(INSTALLED) $(BUNDLE) ## wheel and sdist, in dist/
	rm -rf dist
	$(BIN)/python -m build

clean: ## remove what was built and installed
	rm -rf .venv .venvs dist js/node_modules jupyter_applets/widget/static tests/browser/.artifacts
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache

# ── set-up ────────────────────────────────────────────────────────────────────────────────────────────────────────────

$(VENV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
		echo "Python 3.10 or later is needed: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { $(call apt,python3-venv); }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

# The bundle has its own rule, so the build hook need not run npm.
$(INSTALLED): pyproject.toml $(SERVER_CONFIG) | $(VENV)
	HATCH_JUPYTER_BUILDER_SKIP_NPM=1 $(BIN)/python -m pip install --quiet --editable '.[mcp,test]'
	@touch $@

$(NODE_MODULES): js/package.json js/package-lock.json
	@node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' || { echo "Node 20 or later is needed." >&2; exit 1; }
	cd js && npm ci
	@touch $@

$(BUNDLE): $(JS_SOURCES) $(NODE_MODULES)
	cd js && npm run --silent build

chromium:
	@for name in chromium chromium-browser google-chrome; do ! command -v $$name >/dev/null || exit 0; done; \
	$(call apt,chromium fonts-liberation)
