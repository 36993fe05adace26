"""What is done is noted and can be proven; who asks to be erased is."""
