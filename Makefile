# Everything goes through .venv, which `make setup` makes and keeps up to date.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.up-to-date

.PHONY: setup demo test test-all lint types tests fuzz bench docs site clean

setup: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("corefeval needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $(STAMP)

demo: $(STAMP)
	@$(BIN)/python -m corefeval.examples

test: lint types tests

# What is slow and rarely fails too, and hypothesis with all of its examples.
test-all: lint types
	$(BIN)/python -m pip install --quiet --group docs --group drop-ins
	$(BIN)/pytest -q -n 2 -rs --hypothesis-profile thorough

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

tests: $(STAMP)
	$(BIN)/pytest -q -n 2 -rs -m 'not slow'

RUNS ?= 10000

fuzz: $(STAMP)
	PYTHONPATH=tests:tests/support $(BIN)/python -m fuzzing --runs $(RUNS) --jobs 2 $(FUZZ)

bench: $(STAMP)
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python -m bench $(BENCH)

docs: $(STAMP)
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/lab_figures.py
	$(BIN)/python docs/notebooks/execute.py

# The documentation as a site, in site/; broken links are errors.
site: $(STAMP)
	$(BIN)/python -m pip install --quiet --group docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo 'site/ is built; to look at it: $(PYTHON) -m http.server --directory site'

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis dist build site
