"""What bench/run.py is made of: contenders, scenarios, their measuring, and its presentation."""
