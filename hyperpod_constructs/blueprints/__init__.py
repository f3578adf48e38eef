"""Opinionated sets of stacks, made of the constructs that anyone can use."""
