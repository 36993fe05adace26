"""The API for programs: one file for each thing that is served, over what all routes share."""
