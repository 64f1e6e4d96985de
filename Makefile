# Everything a person or CI runs. `make help` lists the targets.
PYTHON ?= python3
BIN    := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help chat test check format docs bench bench-admission crash sim mutants test-hosts clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "persona-mind needs Python 3.11 or newer; run: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade pip

.venv/.chat: pyproject.toml | $(BIN)/pip
	@echo "installing into .venv: pip downloads the dependencies, which takes a minute or two"
	$(BIN)/pip install --quiet --editable '.[chat]'
	@touch $@

.venv/.dev: pyproject.toml | $(BIN)/pip
	$(BIN)/pip install --quiet --group dev --editable '.[all]'
	@touch $@ .venv/.chat

chat: .venv/.chat ## make the environment, install, open the host
	@$(BIN)/persona chat $(ARGS)

test: .venv/.dev ## make the environment, install, run the suite
	$(BIN)/pytest $(ARGS)

check: .venv/.dev ## lint, formatting, types, generated files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python docs/generate.py --check

format: .venv/.dev ## format and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: .venv/.dev ## write the generated pages, the message catalogues and the Pi manifest
	$(BIN)/python docs/generate.py

bench: .venv/.dev ## print the figures: start-up, recall, injection
	$(BIN)/python -m benchmarks

bench-admission: .venv/.dev ## print what admission catches and what it wrongly refuses
	$(BIN)/python -m benchmarks.admission $(ARGS)

crash: .venv/.dev ## the whole crash battery (minutes; some parts need root, strace or loop devices)
	$(BIN)/python -m benchmarks.crash $(ARGS)

sim: .venv/.dev ## replay the seeded simulator: make sim SEED=42
	$(BIN)/python -m benchmarks.sim --seed $(or $(SEED),0) $(ARGS)

.venv/.mutants: pyproject.toml .venv/.dev | $(BIN)/pip
	$(BIN)/pip install --quiet --group mutants
	@touch $@

mutants: .venv/.mutants ## mutate commit, locks and recovery, and tell what no test noticed (half an hour)
	$(BIN)/python -m benchmarks.mutants $(ARGS)

transcript: .venv/.dev ## write docs/hosts-transcript.md by running the hosts (needs npm)
	$(BIN)/python -m tests.hosts.install
	PERSONA_TEST_WRITE=1 $(BIN)/pytest tests/hosts/test_across_hosts.py $(ARGS)

test-hosts: .venv/.dev ## install the real hosts (needs npm) and run the suite against them
	$(BIN)/python -m tests.hosts.install
	PERSONA_REQUIRE_HOSTS=1 $(BIN)/pytest tests/hosts $(ARGS)

clean: ## remove the environment and caches
	rm -rf .venv .hosts .mypy_cache .pytest_cache .ruff_cache .hypothesis
