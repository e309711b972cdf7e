"""What can happen: events, their envelope, their bytes and the errors. No I/O lives here."""
