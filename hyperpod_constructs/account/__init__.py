"""Reads an AWS account, and never changes it."""
