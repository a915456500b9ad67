"""How a row is evaluated: general closures for every operation, and fused ones for the conditions people write."""
