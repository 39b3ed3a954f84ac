# `make run` starts Intercoder, `make test` runs every test. Both need Python >= 3.11 and make, nothing else.

BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal
# The first Python here that is new enough.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

.PHONY: run install test lint bench soak pictures

run: install
	@exec $(BIN)/python manage.py start --demo --stop-with-parent

install: .venv/.installed

# PostgreSQL first: pytest's closing line on SQLite, where every test runs, comes last.
test: .venv/.tests-installed
	@INTERCODER_TEST_DATABASE=postgres $(PYTEST); postgres=$$?; \
	INTERCODER_TEST_DATABASE=sqlite $(PYTEST); sqlite=$$?; \
	test $$postgres = 0 || echo 'The run on PostgreSQL failed; its report stands above the one on SQLite.' >&2; \
	exit $$((postgres + sqlite))

lint: .venv/.tests-installed
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

bench: .venv/.tests-installed
	@$(BIN)/python -m benchmarks

pictures: .venv/.tests-installed
	@$(BIN)/python -m tests.pictures

soak: .venv/.tests-installed
	@$(BIN)/python -m pytest -m soak

.venv/.tests-installed: .venv/.installed pyproject.toml
	@$(BIN)/python -m pip install --quiet --group test
	@# It pins an old SciPy, which would take the NumPy that Intercoder runs on back with it; it works with new ones.
	@$(BIN)/python -m pip install --quiet --no-deps irrCAC==0.4.4
	@touch $@

.venv/.installed: pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet .
	@touch $@

$(BIN)/python:
	@test -n '$(PYTHON)' || { echo 'Intercoder needs Python 3.11 or newer: apt-get install python3 python3-venv' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo 'This Python cannot make a virtual environment: apt-get install python3-venv' >&2; exit 1; }
	@$(PYTHON) -m venv .venv
