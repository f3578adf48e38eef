"""The constructs: with `blueprints` the only ring that imports the CDK."""
