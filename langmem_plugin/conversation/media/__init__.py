"""Pictures and files of messages, kept outside of them."""
