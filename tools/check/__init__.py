"""The rules that tools/check.py checks, a module each."""
