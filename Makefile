# Every target sets up what it needs in .venv; Python 3.11 or later and make are all it takes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= auto

.PHONY: demo quick test test-all test-long test-browser check format test-spark test-postgres bench bench-accuracy bench-additive \
	bench-calibration bench-carried bench-cluster bench-fscl bench-growth bench-missing bench-mnist bench-networks bench-out-of-sample \
	bench-priors bench-quick bench-scale bench-search bench-sql bench-tables benchmark benchmark-check \
	bench-tangent bench-uci sklearn-tests figures clean

demo: $(VENV)/.base
	$(BIN)/suffice compare breast_cancer --max-time 40 --report demo.html

# Doctests, every law on one example, and the tests of the files that have changed: about a minute.
quick: $(VENV)/.test
	$(BIN)/python -m tests.quick

# Every law, oracle and bad input: six minutes on two quiet cores.
test: $(VENV)/.test
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --durations=15

# Checks of `make test` repeated for further settings, and tests that start many processes or run long.
test-all: $(VENV)/.test
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --durations=15 \
		-m "thorough and not browser and not spark and not postgres"

# For the night, not part of .ci/run: the same laws on more examples, with as many steps as a user's learner takes.
test-long: $(VENV)/.test
	SUFFICE_LAWS=long $(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --durations=15 \
		-m 'not browser and not spark and not postgres'

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

# scikit-learn's own tests, run on the estimators here; docs/scikit-learn.md says why some do not pass.
sklearn-tests: $(VENV)/.test
	$(BIN)/python -m tests.sklearn_own

# All tables of the papers on the data sets that are installed. A run that was stopped continues, and measures again where
# settings, code, data or versions have changed. FULL=1 takes as many splits as the papers.
DATA ?= $(if $(SUFFICE_DATA),$(SUFFICE_DATA),$(wildcard ../shared/data))
AT = $(if $(DATA),--data $(DATA))
RUN = $(BIN)/python -m papers run all --jobs $(if $(filter auto,$(JOBS)),2,$(JOBS)) $(if $(FULL),--full) $(AT)

bench: $(VENV)/.base
	$(RUN) --out bench-results
	$(BIN)/python -m papers report bench-results $(AT) --docs docs/reproduction.md

bench-quick: $(VENV)/.base
	$(RUN) --quick --out bench-quick-results
	$(BIN)/python -m papers report bench-quick-results $(AT)

# Raw mixed tables against boosting and others, some hours on one core. Results are kept, and a stopped run continues.
bench-accuracy: $(VENV)/.bench
	$(BIN)/python -m benchmarks.accuracy run $(AT)
	$(BIN)/python -m benchmarks.accuracy report $(AT)

# AdditiveTables against EBM. Results are kept, and a stopped run continues.
bench-additive: $(VENV)/.bench
	$(BIN)/python -m benchmarks.additive small $(AT)
	$(BIN)/python -m benchmarks.additive monotone $(AT)

bench-calibration: $(VENV)/.test
	$(BIN)/python -m benchmarks.calibration

bench-carried: $(VENV)/.test
	$(BIN)/python -m benchmarks.carried $(AT)

# Two Dask workers against one on 5 million rows: some minutes, best on an idle machine.
bench-cluster: $(VENV)/.test
	$(BIN)/python -m benchmarks.cluster

bench-fscl: $(VENV)/.test
	$(BIN)/python benchmarks/fscl.py

# Time and memory against rows, columns and classes, up to 10 million rows (some GB of memory).
bench-growth: $(VENV)/.test
	$(BIN)/python -m benchmarks.growth --out benchmarks/measured/growth.json
	$(BIN)/python -m benchmarks.page

bench-missing: $(VENV)/.test
	$(BIN)/python benchmarks/missing.py $(AT)

# Raw digits, quadratic discriminants against others: half an hour on two cores.
bench-mnist: $(VENV)/.test
	$(BIN)/python -m benchmarks.mnist $(AT) --out benchmarks/measured/mnist.json
	$(BIN)/python -m benchmarks.page

# Bayesian networks in closed form and under learners, five splits of every set. Results are kept in the same way.
bench-networks: $(VENV)/.bench
	$(BIN)/python -m benchmarks.networks $(AT)

bench-out-of-sample: $(VENV)/.test
	$(BIN)/python -m benchmarks.out_of_sample $(AT)

bench-priors: $(VENV)/.test
	$(BIN)/python -m benchmarks.priors $(if $(DATA),--data $(DATA))

# Files that do not fit into memory, some minutes and 5 GB of disk; ROWS=5000000 sets another size.
bench-scale: $(VENV)/.bench
	$(BIN)/python -m benchmarks.scale --rows $(or $(ROWS),50000000)

bench-search: $(VENV)/.test
	$(BIN)/python benchmarks/search.py

# The scoring query in DuckDB against predict_proba.
bench-sql: $(VENV)/.test
	$(BIN)/python benchmarks/sql.py

# Every figure is a ratio to a peer in the same run; best on an idle machine. Writes docs/speed.md.
benchmark: $(VENV)/.test
	$(BIN)/python -m benchmarks.speed --out benchmarks/measured/speed.json
	$(BIN)/python -m benchmarks.growth --out benchmarks/measured/growth.json
	$(BIN)/python -m benchmarks.page

# Fails if a ratio is below its floor in benchmarks/floors.json by more than the noise; ten minutes on two cores.
benchmark-check: $(VENV)/.test
	$(BIN)/python -m benchmarks.check

# Raw adult, in five splits; results are kept in the same way.
bench-tables: $(VENV)/.bench
	$(BIN)/python -m benchmarks.tables $(AT) --figure docs/adult.svg

bench-tangent: $(VENV)/.test
	$(BIN)/python benchmarks/tangent.py

# Our place among 179 published classifiers, some minutes on one core. Writes docs/uci.md.
bench-uci: $(VENV)/.test
	$(BIN)/python -m benchmarks.uci run $(if $(UCI),--uci $(UCI))

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
