# make demo: set up and run the main job. make test: set up and run the tests. Both are fast the second time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test docs lint slow page notebook screenshots torture clean

demo: $(STAMP)
	$(BIN)/agssl fit digits --method gcn --out runs/demo-gcn --overwrite
	$(BIN)/agssl fit digits --out runs/demo --plot --overwrite
	$(BIN)/agssl explain runs/demo --degree
	$(BIN)/agssl report runs/demo --baseline runs/demo-gcn
	$(BIN)/python examples/learnt.py runs/demo runs/demo-gcn

test: $(STAMP) lint
	$(BIN)/python -m pytest -n auto

# The site of the docs, in build/site; a broken link or an undescribed page is an error.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

slow: $(STAMP)
	$(BIN)/python -m pytest -m slow

# The script of the report page, bundled from web/ into the package; needs Node.js.
page:
	cd web && npm ci && npm run build

# Run the example notebook again, in place.
notebook: $(VENV)/.pictures
	$(BIN)/jupyter execute --inplace examples/own_table.ipynb

# docs/report.png and docs/embedding.png from a run on Cora; needs Chromium.
screenshots: $(VENV)/.pictures
	$(BIN)/python benchmarks/screenshots.py

$(VENV)/.docs $(VENV)/.pictures: $(VENV)/.%: $(STAMP)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[$*]'
	touch $@

# 200 kills at random moments, 26,000 damaged files (10,000 tables), 200 examples of every property; figures go to results/.
torture: $(STAMP)
	$(BIN)/python tests/crash/torture.py --kills 200 --out results/torture.json
	$(BIN)/python tests/fuzz/torture.py --cases 26000 --out results/fuzz.json
	$(BIN)/python -m pytest tests/properties --hypothesis-profile=torture

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) runs
