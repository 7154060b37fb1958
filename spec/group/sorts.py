"""The sorts and counters of a group: brokers, clients, member ids, generations, epochs, protocols, positions."""

from kafkaproof.spec.language.domains import NOBODY, Bound, Id, Number

Broker = Id("brokers")
Client = Id("clients")
MemberId = Number(NOBODY, Bound("ids", -1))
KnownId = Number(0, Bound("ids", -1))
Generation = Number(0, Bound("generations"))
Epoch = Number(0, Bound("epochs"))
Protocol = Id("protocols")
Topic = Id("topics")
Position = Number(0, Bound("log"))
NowhereOr = Number(-1, Bound("log", -1))
NOWHERE = -1
