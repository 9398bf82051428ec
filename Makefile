# Everything runs in .venv, which is made anew when requirements.lock or pyproject.toml changes.
BIN := .venv/bin
VENV := .venv/made
LAB_ARGS ?=
LOCK_ARGS ?=
CHROMIUM ?= $(or $(shell for browser in chromium chromium-browser google-chrome; do \
	command -v $$browser && break; done),chromium)

IS_SUPPORTED := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python; do \
	$$python -c '$(IS_SUPPORTED)' 2>/dev/null && echo $$python && break; done)

define need_python
@"$(PYTHON)" -c '$(IS_SUPPORTED)' 2>/dev/null || { \
	echo "kubequeue needs Python 3.11, 3.12 or 3.13. Name one: make ... PYTHON=python3.12" >&2; exit 1; }
@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
	echo "$(PYTHON) cannot make a venv. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
endef

.DEFAULT_GOAL := help
.PHONY: help lab test lint types imports unit nbval browser picture notebooks oracle readme bench lock clean

help: ## say what there is (this list)
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

lab: $(VENV) ## open the course in JupyterLab (LAB_ARGS=... are passed on)
	$(BIN)/jupyter lab $(LAB_ARGS) notebooks/index.ipynb

test: lint types imports unit nbval browser ## run every check but the Go oracle

lint: $(VENV) ## style (ruff)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV) ## annotations (mypy)
	$(BIN)/mypy

imports: $(VENV) ## who may import whom (import-linter)
	$(BIN)/lint-imports

unit: $(VENV) ## tests, and the examples in docstrings (pytest)
	$(BIN)/pytest

nbval: export PYTHONHASHSEED := 0
nbval: $(VENV) ## run the notebooks and compare with what they store (nbval)
	$(BIN)/pytest --nbval --nbval-current-env --nbval-cell-timeout=120 \
		--nbval-sanitize-with tests/nbval_sanitize.cfg notebooks

browser: $(VENV) ## run the notebooks in a real browser (needs a Chromium)
	@if command -v $(CHROMIUM) >/dev/null; then $(BIN)/pytest tests/browser; \
	else echo "No browser tests: there is no Chromium. On Debian: apt install chromium fonts-noto-cjk"; fi

picture: $(VENV) ## take the README's picture of the stepper anew (needs a Chromium)
	$(BIN)/pytest tests/browser/test_controls.py -k 'walking and mouse'
	cp build/screenshots/stepper-mouse.png notebooks/images/stepper.png

notebooks: export PYTHONHASHSEED := 0
notebooks: $(VENV) ## run the notebooks and store what they print
	$(BIN)/python tests/store_notebooks.py

oracle: ## compare the recordings with the real Go code (needs Go)
	@command -v go >/dev/null || { echo "make oracle needs Go, and there is no 'go' here." >&2; exit 1; }
	cd tests/oracle && go test -count=1 ./...

readme: ## install the way that the README has for machines without make, in a copy
	$(need_python)
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && git clone --quiet . "$$dir" && cd "$$dir" && \
	export PIP_QUIET=1 && \
	eval "$$(grep -m 1 '^python3 -m venv' README.md)" && \
	.venv/bin/jupyter lab --version && .venv/bin/python -c 'from kubequeue import plots'

bench: $(VENV) ## measure the speed of the model
	$(BIN)/python tests/benchmarks/bench.py
	$(BIN)/python tests/benchmarks/widgets.py
	$(BIN)/python tests/benchmarks/whole_operator.py

lock: ## make requirements.lock anew (LOCK_ARGS=--upgrade for newer versions)
	$(need_python)
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	$(PYTHON) -m venv "$$dir" && "$$dir/bin/pip" install --quiet uv && \
	"$$dir/bin/uv" pip compile $(LOCK_ARGS) --quiet --universal --python-version 3.11 \
		--all-extras --group build --generate-hashes --no-annotate \
		--custom-compile-command "make lock" --output-file requirements.lock pyproject.toml

clean: ## remove .venv and what the tools leave behind
	rm -rf .venv build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find kubequeue notebooks tests \( -name __pycache__ -o -name .ipynb_checkpoints \) \
		-prune -exec rm -rf {} +

$(VENV): requirements.lock pyproject.toml
	$(need_python)
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@# Matplotlib says that it builds its font cache, once; nbval would take that for output.
	$(BIN)/python -c 'import matplotlib.font_manager' 2>/dev/null
	@touch $@
