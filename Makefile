# make lab   the course in JupyterLab          make bench   our times beside PyTorch's
# make test  every check of the project        make build   lessons/ and solutions/ from course/content
# Each sets up what it needs in .venv first; PYTHON=/path/to/python3.12 chooses the interpreter.

# Small matrix products get slower, not faster, with several BLAS threads on a busy machine.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

BIN := .venv/bin
PYTHON ?= python3 python3.13 python3.12 python3.11 python3.14 python

.PHONY: help lab test bench build venv
.DELETE_ON_ERROR:

help:
	@sed -n 's/^# \{0,1\}//p;/^$$/q' Makefile

lab: .venv/installed
	$(BIN)/course lab

test: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/course verify
	$(BIN)/python -m pytest

bench: .venv/installed
	$(BIN)/python -m tests.bench

build: .venv/installed
	$(BIN)/course build

venv: .venv/pyvenv.cfg

.venv/pyvenv.cfg:
	@for python in $(PYTHON); do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    "$$python" -m venv .venv && exit 0; \
	    echo "$$python could not make a virtual environment; on Debian and Ubuntu: apt install python3-venv" >&2; \
	    exit 1; \
	  fi; \
	done; \
	echo "Python 3.11 or newer is needed; none of these is: $(PYTHON). Name one: make PYTHON=/path/to/python" >&2; \
	exit 1

.venv/installed: pyproject.toml | venv
	@echo "Installing into .venv; this takes a minute or two."
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/installed-dev: pyproject.toml | venv
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@ .venv/installed
