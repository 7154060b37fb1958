"""The program of a broker: which enabled step runs next, by events, timers, or the orders of a driver."""
