"""The question side: reads every read model and writes nothing."""
