"""Notes what is done, so that it can be proven; who asks to be erased is."""
