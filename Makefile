PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RECORDINGS := traces/recordings
SEED := 1
PER := 40
# The tests start many processes: each would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install check lint test wheel thorough real tools mutants mutants-random verdicts proofs pages pictures site image tamperings tamperings-wire sources clean

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "kafkaproof needs Python 3.11 or later; set PYTHON to one: make PYTHON=python3.12"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@

check: install
	@echo "Checks a cluster of 3 brokers, then every variant at its smallest scope, and replays the logs of two real"
	@echo "clusters. This takes five to ten minutes on two cores; each system is reported as soon as it is done."
	$(BIN)/kafkaproof check cluster --brokers 3 --recorded
	$(BIN)/kafkaproof check --scope quick --recorded
	$(BIN)/kafkaproof replay $(RECORDINGS)/3.9.1-controller-failover
	$(BIN)/kafkaproof replay $(RECORDINGS)/1.1.1-zombie --expect C4 --history runs/split-brain.json
	$(BIN)/kafkaproof show runs/split-brain.json --output runs/split-brain.html
	@echo "Next: open runs/split-brain.html, draw a counterexample with \`$(BIN)/kafkaproof show RUN\`, and read"
	@echo "docs/tutorial.md to check a model of your own."

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@rm -rf build/types && mkdir -p build/types/kafkaproof
	@for part in spec checker impl traces; do ln -s ../../../$$part build/types/kafkaproof/$$part; done
	@for file in __init__ model testing; do ln -s ../../../kafkaproof/$$file.py build/types/kafkaproof/$$file.py; done
	$(BIN)/mypy

test: install
	$(BIN)/python -m pytest --numprocesses 3 --dist loadfile -m "not thorough and not real"

wheel: install
	.ci/wheel

thorough: install
	$(BIN)/python -m pytest --numprocesses 3 --dist loadfile -m thorough

tools: install
	$(BIN)/python benchmarks/kafka_tools.py --output docs/kafka-tools.md

real: install
	$(BIN)/python -m pytest -m real tests/impl

mutants: install
	$(BIN)/python -m kafkaproof.checker.mutation.by_hand docs/mutants.md $(VARIANT)

mutants-random: install
	$(BIN)/python -m kafkaproof.checker.mutation.by_machine --seed $(SEED) --per $(PER) \
	  $(if $(VARIANT),--variant $(VARIANT)) --output docs/mutants-random.md

verdicts: install
	$(BIN)/python -m kafkaproof.checker.check.recorded docs/verdicts.md $(VARIANT)

proofs: install
	$(BIN)/python -m kafkaproof.checker.prove.table docs/proved.md $(VARIANT)

pages: install
	$(BIN)/python -m tests.docs.generated

pictures: install
	$(BIN)/python -m tests.docs.pictures $(NAME)

site: install
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/pip install --quiet --disable-pip-version-check zensical
	$(BIN)/python -m tests.docs.site build/docs
	$(BIN)/zensical build --strict

image: install
	rm -rf build/image && mkdir -p build/image
	$(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/image .
	cp constraints.txt build/image
	docker build --tag kafkaproof --file Dockerfile build/image

tamperings-wire: install
	$(BIN)/python -m tests.traces.wire.table docs/tamperings-wire.md --places 2

tamperings: install
	$(BIN)/python -m tests.traces.tamperings.table docs/tamperings.md --places 3

sources: install
	$(BIN)/python -m tests.sources $(KAFKA)

clean:
	rm -rf $(VENV) runs build *.egg-info
