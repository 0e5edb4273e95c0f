# BenchHub: `make serve` brings it up, `make test` checks it. PORT and VAR are honoured.
PORT ?= 8000
VAR ?= var
PYTHON_BIN := .venv/bin/python
export PORT VAR

.PHONY: help serve test lint bench reliability clean

help:
	@echo "make serve   start BenchHub (PORT=$(PORT), VAR=$(VAR))"
	@echo "make test    lint and all tests, in a real Chromium too"
	@echo "make lint    ruff, mypy, djlint"
	@echo "make bench   speed and memory against the budgets"
	@echo "make reliability   kills, full disks, damaged files, in full"
	@echo "make clean   remove what was installed here; VAR stays"

serve:
	@sh benchhub/setup.sh
	@$(PYTHON_BIN) -m benchhub.serve

test:
	@sh benchhub/setup.sh test
	@$(MAKE) --no-print-directory checks
	@$(PYTHON_BIN) -m pytest -n 2 --dist loadgroup

lint:
	@sh benchhub/setup.sh lint
	@$(MAKE) --no-print-directory checks

.PHONY: checks
checks:
	@$(PYTHON_BIN) -m ruff check .
	@$(PYTHON_BIN) -m ruff format --check .
	@$(PYTHON_BIN) -m mypy .
	@$(PYTHON_BIN) -m djlint --quiet --lint templates

bench:
	@sh benchhub/setup.sh lint
	@$(PYTHON_BIN) -m tests.bench

reliability:
	@sh benchhub/setup.sh test
	@$(PYTHON_BIN) -m tests.reliability full

clean:
	rm -rf .venv node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './$(VAR)/*' -prune -exec rm -rf {} +
