"""What people say becomes what is known: extracted in the background, allowed, confirmed, explained."""
