# make demo: set up and run the main job. make test: set up and run the tests. Both are fast the second time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint slow fuzz clean

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

# 10,000 damaged files, 200 examples of every property; the figures go to results/fuzz.json
fuzz: $(STAMP)
	$(BIN)/python tests/fuzz/torture.py --cases 10000 --out results/fuzz.json
	$(BIN)/python -m pytest tests/properties --hypothesis-profile=torture

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) runs
