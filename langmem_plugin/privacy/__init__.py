"""The audit log, which notes what is done, and the erasure of people who ask for it."""
