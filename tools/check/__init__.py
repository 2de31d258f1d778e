"""The rules that tools/check.py checks, one module per rule."""
