"""Text as it is compared: tokens, stemmed words, dates and numbers."""
