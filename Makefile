# Every target sets up what it needs in .venv; Python 3.11 or later and make are all it takes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= auto

.PHONY: demo test check format bench-accuracy bench-calibration bench-fscl bench-speed clean

demo: $(VENV)/.base
	$(BIN)/python examples/demo.py

test: $(VENV)/.test
	$(BIN)/python -m pytest -n $(JOBS)

check: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench-accuracy: $(VENV)/.test
	$(BIN)/python benchmarks/accuracy.py

bench-calibration: $(VENV)/.test
	$(BIN)/python -m benchmarks.calibration

bench-fscl: $(VENV)/.test
	$(BIN)/python benchmarks/fscl.py

bench-speed: $(VENV)/.base
	$(BIN)/python benchmarks/speed.py

format: $(VENV)/.check
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.%: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .[$*]
	@touch $@
