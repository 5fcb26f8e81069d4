# make demo: set up and run the main job. make test: set up and run the tests. Both are fast the second time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint slow torture clean

demo: $(STAMP)
	$(BIN)/agssl fit digits --method gcn --out runs/demo-gcn
	$(BIN)/agssl fit digits --out runs/demo --plot
	$(BIN)/agssl explain runs/demo --degree

test: $(STAMP) lint
	$(BIN)/python -m pytest

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

slow: $(STAMP)
	$(BIN)/python -m pytest -m slow

torture: $(STAMP)
	$(BIN)/python tests/crash/torture.py --kills 200 --out results/torture.json

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) runs
