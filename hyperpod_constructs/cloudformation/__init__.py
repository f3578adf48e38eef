"""Reads CloudFormation files into plain values with line numbers; knows the format and nothing of what is deployed."""
