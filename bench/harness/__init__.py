"""What the benchmarks are made of: contenders, scenarios, their measuring, and its presentation."""
