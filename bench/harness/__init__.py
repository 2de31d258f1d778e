"""The parts of the benchmarks: contenders, scenarios, their measurement, and its presentation."""
