"""Who may do what and what the network lets through, before and after: policies, trust, security groups, endpoints."""
