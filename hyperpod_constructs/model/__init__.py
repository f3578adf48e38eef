"""What a deployment is: frozen values, no AWS, no CDK.

In every field `None` means left out and `UNKNOWN` means known only at deploy. What a user may write and what a template
reader finds are the same types, so that one rule judges both. `path` is the identity of everything that is a resource.
"""
