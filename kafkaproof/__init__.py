"""A model-checked specification of Kafka's ZooKeeper-mode control plane, and the harness that holds running systems to it.

`kafkaproof.model` is what models of one's own are written with. `spec`, `checker`, `impl` and `traces` are folders of the
repository's top level.
"""
