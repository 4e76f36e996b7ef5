"""Models made of models: blocks of columns, experts, contests of classes."""
