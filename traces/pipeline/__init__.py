"""From files to typed events in Parquet, and back: in little memory, in this process or on Spark."""
