"""What a change does to what is deployed: compares two assemblies and says what stops, what goes and what it costs."""
