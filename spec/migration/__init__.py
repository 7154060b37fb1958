"""The way from ZooKeeper to a quorum of KRaft controllers (KIP-866): two stores, two kinds of controllers, and the way back."""
