"""What an operator is built on: the workers, what they are given and what they answer."""
