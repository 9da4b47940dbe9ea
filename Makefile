# make demo: install into .venv, then tune a transpose for GPU 0, or offline for an H200, and draw what came of it.
# make test: install the test extra too, then run every test that this machine can run.
# make site: install the docs extra too, then build the docs as build/site/index.html, for which no network is needed.
PYTHON ?= python3
INSTALL := .venv/bin/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test site
.DELETE_ON_ERROR:

demo: .venv/installed
	.venv/bin/autotune tune transpose --device auto --m 8192 --n 8192 --seconds 45
	@mkdir -p build
	.venv/bin/autotune report -o build/demo.html
	.venv/bin/autotune bench transpose --ladder --device auto --m 8192 --n 8192
	@echo 'what a call gets from what was measured before, on this GPU or an H200:'
	.venv/bin/autotune explain transpose --device auto --m 8192 --n 8192

test: .venv/installed-for-tests
	.venv/bin/python -m pytest -n auto

site: .venv/installed-for-site
	.venv/bin/sphinx-build --quiet --fail-on-warning --keep-going -c docs/site . build/site

.venv/installed: pyproject.toml | .venv/bin/python
	@echo 'installing autotune and its packages into .venv'
	@$(INSTALL) --editable .
	@touch $@

.venv/installed-for-tests: pyproject.toml | .venv/bin/python
	@echo 'installing autotune, its packages and what tests need into .venv'
	@$(INSTALL) --editable '.[test]'
	@touch $@ .venv/installed

.venv/installed-for-site: pyproject.toml | .venv/bin/python
	@echo 'installing autotune, its packages and what builds the docs into .venv'
	@$(INSTALL) --editable '.[docs]'
	@touch $@ .venv/installed

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'autotune needs Python 3.11 or newer; name one: make $(MAKECMDGOALS) PYTHON=python3.12' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo '$(PYTHON) has no venv; install it (Debian: apt-get install python3-venv)' >&2; exit 1; }
	$(PYTHON) -m venv .venv
