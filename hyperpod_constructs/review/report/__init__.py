"""A review as people and programs read it: text, markdown, JSON."""
