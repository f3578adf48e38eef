"""Policies of IAM and KMS that a deployment needs: what is missing is otherwise found after the network exists.

documents    statements, and how they become documents that are short enough
names        the ARNs of what a template makes, as far as they are known before the deploy
execution    the policy of CloudFormation's own role
keys         the statements that imported keys need
personas     policies of the people who use a cluster
reading      the policy of the commands that read an account
"""
