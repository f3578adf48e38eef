# Any target may be the first one run on a fresh machine: what it needs is set up in .venv by tools/setup.py.
# From the machine come only make, git and Python 3.11 or newer; to name another one: make test PYTHON3=python3.13

PYTHON3 ?= python3
BIN := .venv/bin
TYPED := hyperpod_constructs tests tools $(wildcard app.py examples)
# Resolves the lock file and nothing else, so it is not installed with the rest.
UV := uv==0.13.9

# Without bytecode the CDK's modules are compiled again by every process: seconds each time.
unexport PYTHONDONTWRITEBYTECODE

# As many test processes as cores; one that runs out of tests takes some from the other.
SIDE_BY_SIDE := -n auto --dist worksteal

# The examples that EKS schedules, which `make synth` writes, too.
ON_EKS := eks evaluation checkpointless

.DEFAULT_GOAL := help
.PHONY: help setup synth test types tests proof bench lock clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1|\2/p' Makefile | awk -F'|' '{ printf "%-12s %s\n", $$1, $$2 }'

setup: ## install what the other targets need, as locked; does nothing when nothing changed
	@$(PYTHON3) tools/setup.py

# The CDK leaves a complete-looking assembly behind when it refuses an app, so it writes under another name, and only
# what passed becomes cdk.out. The launcher in .venv/bin puts our Node and Python before the machine's: cdk.json can say
# `python3 app.py`, as everywhere in CDK land.
synth: setup ## write the templates of app.py to cdk.out, print a summary; the EKS examples to cdk.out.examples
	@rm -rf cdk.out cdk.out.unchecked
	@CI=true CDK_DISABLE_VERSION_CHECK=1 CDK_DISABLE_CLI_TELEMETRY=true \
		$(BIN)/cdk synth --quiet --no-notices --output cdk.out.unchecked \
		|| { echo 'make synth: refused; there is no cdk.out, what was refused is in cdk.out.unchecked' >&2; exit 1; }
	@mv cdk.out.unchecked cdk.out
	@$(BIN)/hyperpod summary cdk.out
	@rm -rf cdk.out.examples
	@for example in $(ON_EKS); do \
		CI=true CDK_DISABLE_VERSION_CHECK=1 CDK_DISABLE_CLI_TELEMETRY=true $(BIN)/cdk synth --quiet --no-notices \
			--app "python3 examples/$$example.py" --output cdk.out.examples/$$example \
			|| { echo "make synth: examples/$$example.py was refused" >&2; exit 1; }; \
		echo "examples/$$example.py: cdk.out.examples/$$example"; \
	done

test: setup ## lint, format check, types, import boundaries, tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	@$(MAKE) --no-print-directory --jobs 2 --output-sync types tests

types: setup
	$(BIN)/mypy $(TYPED)
	$(BIN)/lint-imports --no-logo

tests: setup
	$(BIN)/python -m pytest $(SIDE_BY_SIDE)

proof: setup ## run tests/proof: what takes minutes or needs servers on this machine
	@tools/debian.sh
	@$(PYTHON3) tools/setup.py --proof
	@find tests/proof -name 'test_*.py' 2>/dev/null | grep -q . || { echo 'make proof: no test in tests/proof' >&2; exit 1; }
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) tests/proof

bench: setup ## measure synth and constructors against a hand-written L1 app
	$(BIN)/python -m tools.bench

lock: ## resolve the dependencies again; LOCK_FLAGS=--upgrade takes newer versions
	$(PYTHON3) -m venv --clear .venv-lock
	.venv-lock/bin/python -m pip --disable-pip-version-check install --quiet $(UV)
	.venv-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-header $(LOCK_FLAGS) --group dev --output-file tools/python/requirements.txt pyproject.toml
	.venv-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-header $(LOCK_FLAGS) --output-file tools/emulator/requirements.txt tools/emulator/requirements.in
	.venv-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-header $(LOCK_FLAGS) --output-file tools/helm/requirements.txt tools/helm/requirements.in
	rm -rf .venv-lock
	$(PYTHON3) tools/setup.py
	$(BIN)/npm install --prefix tools/node --package-lock-only --omit-lockfile-registry-resolved --no-audit --no-fund

clean: ## remove everything that make made, .venv included
	rm -rf .venv .venv-lock cdk.out cdk.out.unchecked cdk.out.examples .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find hyperpod_constructs tests tools examples -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
