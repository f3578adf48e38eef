"""Arithmetic before money is spent."""
