"""What is known: read models kept in step with the log, and the questions asked of them."""
