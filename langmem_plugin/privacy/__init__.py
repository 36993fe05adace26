"""The audit log, which notes what is done so that it can be proven, and the erasure of people who ask for it."""
