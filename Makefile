# Two commands are enough: `make run` and `make test`. Each sets up what it needs first.
PYTHON ?= python3
VENV := .venv/bin
# Three at a time: a third of the time a test waits. In the order in which they are collected: long ones first.
TESTS = QT_QPA_PLATFORM=offscreen $(VENV)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

# Dozens of tests start the program in a process of its own, which is compiled once and not every time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run setup dev test test-rest test-all check bench screenshots demo package test-package clean

run: setup
	$(VENV)/python -m lethe_app

setup:
	@$(PYTHON) packaging/install.py

dev:
	@$(PYTHON) packaging/install.py --dev

test: dev
	$(TESTS)

# What `make test` leaves out: sweeps over every case, and all examples of property tests.
test-rest: dev
	LETHE_TESTS=all $(TESTS) -m "exhaustive or hypothesis"

test-all: test test-rest

check: dev
	$(VENV)/ruff check .
	$(VENV)/mypy
	$(TESTS)

bench: dev
	$(VENV)/python -m tests.bench $(if $(LOCOMO),--locomo $(LOCOMO))

screenshots: dev
	QT_QPA_PLATFORM=offscreen $(VENV)/python -m tests.screenshots

demo: dev
	QT_QPA_PLATFORM=offscreen $(VENV)/python -m tests.demo

package:
	@$(PYTHON) packaging/package.py

test-package: dev
	LETHE_TEST_PACKAGE=1 $(VENV)/python -m pytest tests/packaging/test_desktop.py

clean:
	rm -rf build .pytest_cache .mypy_cache .ruff_cache
