"""A change beside what runs: the snapshot, how it differs from both templates, and what that means for the change."""
