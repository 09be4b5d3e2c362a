# Each target sets up what it needs; a fresh machine has Python 3.11 or newer, make and the package index.
PYTHON ?= python3
BIN := .venv/bin
FRAMEWORKS := pytorch tensorflow paddle
# Groups of programs that use OpenVINO, each with an environment of its own, and those that take torch from .venv-pytorch.
PROGRAMS := $(notdir $(patsubst %/requirements.txt,%,$(wildcard tests/programs/*/requirements.txt)))
TORCH_PROGRAMS := anomalib huggingface ultralytics
# Packages of devices that tests need besides those of the demo.
DEVICES := onednn openvino ray
# Packages that carry the demo's models; only their files are used, so they come without what they depend on.
MODEL_PACKAGES := rapidocr==3.10.0 magika==1.0.3
# Devices that run the demo from installed wheels; RAY needs a running cluster.
WHEEL_DEVICES := GPU TEMPLATE OPENVINO.CPU HETERO:ONEDNN,TEMPLATE

# A module's tests run in one process, as some of them share what they compile. One that crashes is named at the end; with
# a restarted worker, xdist 3.8 would wait for ever (its issue 1378).
PYTEST := -n 2 --dist loadfile --max-worker-restart 0
# The tests that `quick` selects from.
QUICK := $(addprefix tests/,core system properties graph ops preprocess passes plugin frontend dispatch runtime) \
	$(wildcard plugins/*/tests)

.PHONY: demo models quick test test-full test-frameworks $(FRAMEWORKS:%=test-%) test-programs gpu-check soak lint bench browser docs wheels clean

demo: .venv/demo
	$(BIN)/hetero run configs/ocr.yaml

models: .venv/test
	$(BIN)/python -m tests.zoo

# Before each commit: a case of each test of the API, operations, translators and kernels; some three minutes.
quick: models
	HETERO_QUICK=1 $(BIN)/pytest $(PYTEST) $(QUICK)

test: models lint
	$(BIN)/pytest $(PYTEST)

# All models in 20 random cuts for each way to divide them, all backend cases on each OpenCL device, and every test of GPU
# on each with the kernels for processors and those for GPUs. `test` runs a sample of these. An hour more. Then programs.
test-full: models lint
	HETERO_SEEDS=20 $(BIN)/pytest $(PYTEST)
	$(MAKE) test-programs

# Tests against the frameworks themselves, each in an environment of its own; they also make the stored cases anew.
test-frameworks: $(FRAMEWORKS:%=test-%)

$(FRAMEWORKS:%=test-%): test-%: .venv-%
	PYTHONHASHSEED=0 .venv-$*/bin/python -W ignore -m tests.frameworks.$*.make_cases tests/frontend/$*/cases
	.venv-$*/bin/pytest $(PYTEST) tests/frameworks/$* tests/frontend/$*

# Programs that use OpenVINO, with OpenVINO and with hetero in its place; some 10 minutes, and as long to install them.
test-programs: .venv/test $(PROGRAMS:%=.venv-programs-%)
	$(BIN)/python -m tests.programs

# Evidence about GPUs that are not at hand: programs compiled by their vendors' compilers, and OpenCL runtimes that need
# no GPU. The tools, of 1.1 GB, are unpacked into build/gpu-tools; on Debian 12 alone. Compiling takes 10 minutes of
# processor time, and 1 once the results are cached.
gpu-check: models
	$(BIN)/python -m tests.gpu.tools
	HETERO_GPU_TOOLS=$(CURDIR)/build/gpu-tools $(BIN)/pytest $(PYTEST) tests/gpu

# 20,000 damaged files, plans of concurrent work, and ten minutes of compiling and running models; some 20 minutes.
soak: models
	$(BIN)/python -m tests.robustness

lint: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin
	$(BIN)/python -m tests.structure
	! LC_ALL=C.UTF-8 grep -rnE '.{121}' --include=*.cl plugins

# Tables of all models on all inference engines, at batch sizes 1 and 8, and in bf16 at 1; some 45 minutes.
# `python -m tests.benchmarks` measures everything else.
bench: models .venv/bench
	$(BIN)/python -m tests.benchmarks.inference
	$(BIN)/python -m tests.benchmarks.inference --batch 1 --bf16

# The report page in a headless browser, which needs Node.js 20 or newer and npm: a model cut in two and one cut in five,
# whose pictures go to docs/, and one with 5,000 operations. build/ gets pictures of screens: desktop and phone, 1x and 2x.
browser: models tests/browser/node_modules
	mkdir -p build
	$(BIN)/hetero report .zoo/inception_v1.onnx -d HETERO:ONEDNN,GPU --property PLACEMENT=PIPELINE -o build/report.html
	node tests/browser/report_page.mjs build/report.html docs/report.png operations
	$(BIN)/hetero convert .zoo/basic_pitch.onnx --shape serving_default_input_2:0=1,43844,1 -o build/basic_pitch.xml
	$(BIN)/hetero report build/basic_pitch.xml -d HETERO:ONEDNN,GPU -o build/subgraphs.html
	node tests/browser/report_page.mjs build/subgraphs.html docs/subgraphs.png subgraphs
	$(BIN)/python -m tests.browser.large_model build/large.xml
	$(BIN)/hetero report build/large.xml -d HETERO:TEMPLATE -o build/large.html
	node tests/browser/report_page.mjs build/large.html

tests/browser/node_modules: tests/browser/package.json
	npm install --no-audit --no-fund --no-package-lock --prefix tests/browser
	touch $@

# The documentation as web pages in build/docs; a warning is an error.
docs: .venv/docs
	$(BIN)/sphinx-build -qEW -b html docs build/docs

# Wheels of hetero and its plugins in dist/, installed into an environment of their own, where the demo runs on each device.
wheels:
	rm -rf dist .venv-wheels build/lib build/bdist.* plugins/*/build
	$(PYTHON) -m venv .venv-wheels
	.venv-wheels/bin/pip install -qq --upgrade pip
	.venv-wheels/bin/pip wheel -qq --no-deps -w dist . ./plugins/*
	.venv-wheels/bin/pip install -qq dist/hetero_*.whl "$$(echo dist/hetero-*.whl)[opencl-pocl,onednn,openvino,ray,template]"
	.venv-wheels/bin/pip install -qq --no-deps $(MODEL_PACKAGES)
	cd dist && ../.venv-wheels/bin/hetero devices
	cd dist && for device in $(WHEEL_DEVICES); do \
		../.venv-wheels/bin/hetero run ../configs/ocr.yaml --set device=$$device --set affinities={} | grep 'Any device, one network' || exit 1; \
	done

clean:
	rm -rf tests/browser/node_modules .venv .venv-wheels $(FRAMEWORKS:%=.venv-%) $(PROGRAMS:%=.venv-programs-%) build dist

.venv/demo: pyproject.toml plugins/template/pyproject.toml plugins/opencl/pyproject.toml
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "hetero needs Python 3.11 or newer"'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -qq --upgrade pip
	$(BIN)/pip install -qq -e . -e plugins/template -e 'plugins/opencl[pocl]'
	$(BIN)/pip install -qq --no-deps $(MODEL_PACKAGES)
	$(BIN)/python -m compileall -q hetero plugins  # as pip does, except for packages that it does not copy
	touch $@

.venv/test: .venv/demo $(DEVICES:%=plugins/%/pyproject.toml)
	$(BIN)/pip install -qq -e '.[test]' -e 'plugins/opencl[intel]' $(DEVICES:%=-e plugins/%)
	touch $@

.venv/bench: .venv/test
	$(BIN)/pip install -qq -e '.[bench]'
	touch $@

.venv/docs: .venv/demo
	$(BIN)/pip install -qq -e '.[docs]'
	touch $@

$(FRAMEWORKS:%=.venv-%): .venv-%: pyproject.toml plugins/template/pyproject.toml plugins/opencl/pyproject.toml
	$(PYTHON) -m venv $@
	$@/bin/pip install -qq --upgrade pip
	$@/bin/pip install -qq -e '.[$*]' -e plugins/template -e 'plugins/opencl[pocl]'
	touch $@

# A package that cannot be installed leaves its programs out, which the table lists. Torch is found in .venv-pytorch.
$(PROGRAMS:%=.venv-programs-%): .venv-programs-%: tests/programs/%/requirements.txt pyproject.toml
	$(PYTHON) -m venv $@
	$(if $(filter $*,$(TORCH_PROGRAMS)),.venv-pytorch/bin/python -c 'import site; print(*site.getsitepackages())' > \
		"$$($@/bin/python -c 'import site; print(*site.getsitepackages())')/torch.pth")
	$@/bin/pip install -qq --upgrade pip
	$@/bin/pip install -qq -e . -e plugins/template -e 'plugins/opencl[pocl]' -e plugins/onednn
	-$@/bin/pip install -qq -r $<
	touch $@

$(TORCH_PROGRAMS:%=.venv-programs-%): | .venv-pytorch
