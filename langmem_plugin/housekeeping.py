"""What is past its time is archived and deleted in the background, by one process at a time."""
