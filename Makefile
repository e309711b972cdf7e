# Each target does its own set-up: `make demo` and `make check` work in a fresh clone.

VENV ?= .venv
ARGS ?=
WORKERS ?= 3
MINUTES ?= 10

# Most of what tests wait for is the disk, and nothing that they write outlives them: where 6 GB of
# memory are free for files, that is where they write.
TEST_FILES ?= $(shell free=$$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $$4 }'); \
	test -w /dev/shm && test "$${free:-0}" -gt 6000000 && echo /dev/shm)

# The first Python on the path that is new enough and can make virtual environments.
PYTHON ?= $(firstword $(foreach p,python3.11 python3.12 python3.13 python3.14 python3,$(shell \
	$(p) -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(p))))
BIN = $(VENV)/bin
INSTALLED = $(VENV)/.installed

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help venv demo test check format format-check lint types kafka generate fuzz killtest bench clean

help: ## print this list
	@grep -E '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed -E 's/:.*## /\t/' | expand -t 14

venv: $(INSTALLED) ## make the virtual environment, or renew it when pyproject.toml changed

$(INSTALLED): pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer, with venv, is needed (Debian: apt-get install python3-venv)"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: venv ## run the demo: a memory filled, asked, lost, rebuilt and proved equal
	$(BIN)/mnemolog demo

test: venv ## run the tests; ARGS='-k recall' picks some, WORKERS=1 runs one at a time
	$(if $(TEST_FILES),TMPDIR=$(TEST_FILES)) $(BIN)/pytest --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder $(ARGS)

check: venv format-check lint types test ## all that CI checks: format, lint, types, tests

format: venv ## format the sources and mend what the linter can
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

format-check: venv ## say what the formatter would change
	$(BIN)/ruff format --check

lint: venv ## look for faults in the sources
	$(BIN)/ruff check

types: venv ## check the types
	@test -L src/mnemolog/schemas || { echo "src/mnemolog/schemas is no link: mypy would see one package only. Use a checkout with symbolic links."; exit 1; }
	$(BIN)/mypy

kafka: ## run a Kafka broker on 127.0.0.1:9092 until Ctrl-C (Java 17 and Maven)
	$(PYTHON) tests/support/kafka_broker.py run --port 9092 --dir .kafka/data

generate: venv ## write the JSON Schemas, the AsyncAPI and the OpenAPI document anew from the models
	$(BIN)/python -m mnemolog.schemas.generate
	$(BIN)/python -m mnemolog.service.generate

fuzz: venv ## throw anything at everything for MINUTES=10; ARGS='-k command' picks some
	$(BIN)/python tests/support/fuzz.py --minutes $(MINUTES) $(ARGS)

killtest: venv ## kill -9 importing, projecting and worker processes at random; ARGS are the scripts'
	$(BIN)/python tests/support/kill_storm.py $(ARGS)
	$(BIN)/python tests/support/worker_storm.py $(ARGS)

bench: venv ## run the benchmark's scenarios; ARGS are the script's
	$(BIN)/python bench/run.py $(ARGS)

clean: ## remove what was built; data, Kafka's jars and the virtual environment stay
	rm -rf build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
