"""What clients ask of a broker, in Kafka's wire protocol: records, topics, reassignments."""
