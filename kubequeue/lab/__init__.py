"""What the notebooks are made of: pictures, checks and ready-made reconcilers."""
