# Everything that people and CI run. `.venv` is made from hash-pinned files and nothing else is needed
# than Python 3.11 to 3.14 (docs/adr/0002-locking-and-installing.md).
#
#   make run         install what the node needs, start it with its own Postgres and S3 (DATA_DIR=…)
#   make install     install everything: node, tests, linters
#   make test        all tests, on real Postgres, S3 and Spark (ARGS="tests/chain -k gap")
#   make test-slow   the same tests with all their examples and kills: hours (ARGS="tests/transforms_spark")
#   make bench       measure, each figure beside its baseline (ARGS=…)
#   make lint        ruff, mypy, import contracts
#   make requirements  lock the dependencies of pyproject.toml anew (ARGS="--upgrade-package boto3")
#   make clean       remove .venv and caches; data in var/ stay

SHELL := /bin/sh
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.NOTPARALLEL:

PYTHON ?= python3
DATA_DIR ?= var/odf-node
ARGS ?=
# How often `make test-slow` kills a process in each test that does.
KILLS ?= 100
# Processes that divide the tests, a file at a time, those that take long first; they share one Postgres, S3
# and Spark.
TESTERS ?= logical
PYTEST = $(PY) -m pytest --numprocesses $(TESTERS) --maxprocesses 4 --dist loadfile --no-loadscope-reorder

PY := .venv/bin/python
UV := .venv/bin/uv
MADE := .venv/.made

# A caller's Python environment must not leak into ours; without compiled modules each start takes seconds.
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE VIRTUAL_ENV CONDA_PREFIX

# A moved or copied folder: the scripts in .venv/bin name the old place, so start anew.
ifneq ($(wildcard $(MADE)/for),)
ifneq ($(shell cat $(MADE)/for),$(CURDIR))
$(shell rm -rf $(MADE))
endif
endif

.PHONY: help install install-run run test test-slow bench lint requirements clean

help:
	@sed -n 's/^#   //p' Makefile

install: $(MADE)/dev $(MADE)/project
install-run: $(if $(wildcard $(MADE)/dev),$(MADE)/dev,$(MADE)/run) $(MADE)/project

run: install-run
	@ODF_EMBEDDED__DATA_DIR="$${ODF_EMBEDDED__DATA_DIR:-$(DATA_DIR)}" exec .venv/bin/odf serve --embedded $(ARGS)

test: install
	@$(PYTEST) $(ARGS)

test-slow: install
	@ODF_TEST_FULL=1 ODF_TEST_KILLS=$(KILLS) $(PYTEST) $(ARGS)

bench: install
	@$(PY) -m bench $(ARGS)

lint: install
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .benchmarks dist
	find app odf_core migrations tests bench -name __pycache__ -prune -exec rm -rf {} +

# --- .venv ---------------------------------------------------------------------------------------

# The first of these that is new enough and not too new for the wheels that we pin.
define FIND_PYTHON
for python in "$(PYTHON)" python3 python3.13 python3.14 python3.12 python3.11; do \
  if "$$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; \
  then found="$$python"; break; fi; \
done; \
if [ -z "$${found:-}" ]; then \
  echo "odf-node needs Python 3.11, 3.12, 3.13 or 3.14, and '$(PYTHON)' is $$("$(PYTHON)" -V 2>&1 || true):" \
       "install one of them, or name it: make PYTHON=/path/to/python3.13 $(MAKECMDGOALS)" >&2; exit 1; \
fi
endef

$(MADE)/venv: requirements-build.txt
	@if ! $(PY) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	    || [ "$$($(PY) -c 'import sys; print(sys.prefix)')" != "$(CURDIR)/.venv" ]; then \
	  $(FIND_PYTHON); \
	  echo "Making .venv with $$("$$found" -V)"; \
	  "$$found" -m venv --clear .venv || { \
	    echo "$$found cannot make virtual environments: install its venv and ensurepip modules" \
	         "(on Debian and Ubuntu the package python3-venv)." >&2; exit 1; }; \
	fi
	@$(PY) -c 'import pip' 2>/dev/null || $(PY) -m ensurepip
	@$(PY) -m pip install --quiet --no-input --disable-pip-version-check --no-warn-script-location \
	    --require-hashes -r requirements-build.txt
	@mkdir -p $(MADE) && printf '%s\n' "$(CURDIR)" > $(MADE)/for && touch $@

# uv takes a quarter of pip's time; pip, which knows this machine's own settings, is the way out.
define INSTALL
	@echo "Installing from $(1)"
	@$(UV) pip install --quiet --compile-bytecode --python $(PY) --require-hashes -r $(1) || { \
	  echo "uv could not; trying pip, which takes longer" >&2; \
	  $(PY) -m pip install --quiet --no-input --disable-pip-version-check --require-hashes -r $(1); }
	@touch $@
endef

$(MADE)/run: requirements.txt $(MADE)/venv
	$(call INSTALL,requirements.txt)

$(MADE)/dev: requirements-dev.txt $(MADE)/venv
	$(call INSTALL,requirements-dev.txt)

# This project itself, editable; the build backend is there already, so nothing is fetched.
$(MADE)/project: pyproject.toml $(MADE)/venv
	@$(PY) -m pip install --quiet --no-input --disable-pip-version-check --no-warn-script-location \
	    --no-index --no-deps --no-build-isolation --editable .
	@touch $@

# --- locking -------------------------------------------------------------------------------------

LOCK = $(UV) pip compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links --universal \
       --python-version 3.11 --custom-compile-command "make requirements" $(ARGS)

requirements: $(MADE)/venv
	$(LOCK) pyproject.toml --extra embedded -o requirements.txt
	$(LOCK) pyproject.toml -c requirements.txt -o requirements-image.txt
	$(LOCK) pyproject.toml --extra embedded --extra dev -c requirements.txt -o requirements-dev.txt
	printf 'uv\nhatchling\neditables\n' | $(LOCK) - -c requirements-dev.txt -o requirements-build.txt
