# The context is build/image, which `make image` makes: the wheel and the constraints.
FROM python:3.12-slim-bookworm
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless graphviz procps \
 && rm -rf /var/lib/apt/lists/*
COPY kafkaproof-*.whl constraints.txt /tmp/
RUN pip install --no-cache-dir --constraint /tmp/constraints.txt /tmp/kafkaproof-*.whl && rm /tmp/kafkaproof-*.whl
WORKDIR /work
ENTRYPOINT ["kafkaproof"]
