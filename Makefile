# Every target sets up what it needs in .venv; Python 3.11 or later and make are all it takes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= auto

.PHONY: demo quick test test-all test-browser check format test-spark test-postgres bench bench-accuracy bench-additive \
	bench-calibration bench-carried bench-cluster bench-fscl bench-growth bench-missing bench-mnist bench-out-of-sample \
	bench-priors bench-quick bench-scale bench-search bench-sql bench-tables benchmark benchmark-check \
	bench-tangent sklearn-tests figures clean

demo: $(VENV)/.base
	$(BIN)/suffice compare breast_cancer --max-time 40 --report demo.html

# Doctests, laws at one example, and the tests of what has changed: under a minute.
quick: $(VENV)/.test
	$(BIN)/python -m tests.quick

test: $(VENV)/.test
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --durations=10

# What `make test` leaves out: scikit-learn's checks for further settings of an estimator, and other long ones.
test-all: $(VENV)/.test
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup -m thorough

test-browser: $(VENV)/.browser
	.ci/chromium
	$(BIN)/python -m pytest -m browser tests/browser

# Needs Java 17 or later.
test-spark: $(VENV)/.test $(VENV)/.spark
	$(BIN)/python -m pytest -m spark tests/data

test-postgres: $(VENV)/.postgres
	.ci/postgres
	$(BIN)/python -m pytest -m postgres tests/data

check: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The figures of docs/plots.md.
figures: $(VENV)/.base
	$(BIN)/python examples/displays.py docs/plots

# scikit-learn's own tests, with ours in the place of theirs; docs/scikit-learn.md says why some do not pass.
sklearn-tests: $(VENV)/.test
	$(BIN)/python -m tests.sklearn_own

# All tables of the papers on the data sets at hand; a run that was stopped goes on where it was, and measures again
# what settings, data or the version have changed for.
DATA ?= $(if $(SUFFICE_DATA),$(SUFFICE_DATA),$(wildcard ../shared/data))
AT = $(if $(DATA),--data $(DATA))
RUN = $(BIN)/python -m papers run all --jobs $(if $(filter auto,$(JOBS)),2,$(JOBS)) $(AT)

bench: $(VENV)/.base
	$(RUN) --out bench-results
	$(BIN)/python -m papers report bench-results $(AT) --docs docs/reproduction.md

bench-quick: $(VENV)/.base
	$(RUN) --quick --out bench-quick-results
	$(BIN)/python -m papers report bench-quick-results $(AT)

# Mixed tables as they are beside boosting and others, some hours on one core; what has been measured is kept, and a run
# that was stopped goes on.
bench-accuracy: $(VENV)/.bench
	$(BIN)/python -m benchmarks.accuracy run $(AT)
	$(BIN)/python -m benchmarks.accuracy report $(AT)

# AdditiveTables beside EBM; what has been measured is kept, and a run that was stopped goes on.
bench-additive: $(VENV)/.bench
	$(BIN)/python -m benchmarks.additive small $(AT)
	$(BIN)/python -m benchmarks.additive monotone $(AT)

bench-calibration: $(VENV)/.test
	$(BIN)/python -m benchmarks.calibration

bench-carried: $(VENV)/.test
	$(BIN)/python -m benchmarks.carried $(AT)

# Two workers of Dask beside one on 5 million rows: some minutes, best on a machine that does nothing else.
bench-cluster: $(VENV)/.test
	$(BIN)/python -m benchmarks.cluster

bench-fscl: $(VENV)/.test
	$(BIN)/python benchmarks/fscl.py

# Time and memory against rows, columns and classes, up to 10 million rows (some GB of memory).
bench-growth: $(VENV)/.base
	$(BIN)/python -m benchmarks.growth --out benchmarks/measured/growth.json
	$(BIN)/python -m benchmarks.page

bench-missing: $(VENV)/.test
	$(BIN)/python benchmarks/missing.py $(AT)

# Raw digits, quadratic discriminants beside others: half an hour on two cores.
bench-mnist: $(VENV)/.base
	$(BIN)/python -m benchmarks.mnist $(AT) --out benchmarks/measured/mnist.json
	$(BIN)/python -m benchmarks.page

bench-out-of-sample: $(VENV)/.test
	$(BIN)/python -m benchmarks.out_of_sample $(AT)

bench-priors: $(VENV)/.test
	$(BIN)/python -m benchmarks.priors $(if $(DATA),--data $(DATA))

# Files that do not fit into memory, some minutes and 5 GB of disk; another size is ROWS=5000000.
bench-scale: $(VENV)/.bench
	$(BIN)/python -m benchmarks.scale --rows $(or $(ROWS),50000000)

bench-search: $(VENV)/.base
	$(BIN)/python benchmarks/search.py

# The scoring query in DuckDB beside predict_proba.
bench-sql: $(VENV)/.test
	$(BIN)/python benchmarks/sql.py

# Every figure is a ratio to a peer in the same run; best on a machine that does nothing else. Writes docs/speed.md.
benchmark: $(VENV)/.base
	$(BIN)/python -m benchmarks.speed --out benchmarks/measured/speed.json
	$(BIN)/python -m benchmarks.growth --out benchmarks/measured/growth.json
	$(BIN)/python -m benchmarks.page

# Fails if a ratio is below its floor in benchmarks/floors.json by more than the noise; ten minutes on two cores.
benchmark-check: $(VENV)/.base
	$(BIN)/python -m benchmarks.check

# adult as it is, in five splits; kept in the same way.
bench-tables: $(VENV)/.bench
	$(BIN)/python -m benchmarks.tables $(AT) --figure docs/adult.svg

bench-tangent: $(VENV)/.test
	$(BIN)/python benchmarks/tangent.py

format: $(VENV)/.check
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .[cli]
	@touch $@

$(VENV)/.%: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .[$*]
	@touch $@
